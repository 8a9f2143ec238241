# SPDX-License-Identifier: Apache-2.0
"""Resizing, transposed convolution, group norm, padding, pooling."""
import torch
import torch.nn.functional as F
from torch import nn


class Resize(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(4, 4, 4, stride=2, padding=1)
        self.norm = nn.GroupNorm(2, 4)
        self.act = nn.PReLU()

    def forward(self, x):
        x = F.pad(self.act(self.norm(self.up(x))), (1, 1, 2, 0), mode="reflect")
        x = F.interpolate(x, scale_factor=1.5, mode="bilinear", align_corners=False)
        x = F.interpolate(x, size=(9, 7), mode="nearest")
        return F.adaptive_avg_pool2d(F.avg_pool2d(x, 2), (2, 3))


def base():
    last = torch.channels_last
    return dict(model=Resize().eval().to(memory_format=last), args=(torch.randn(1, 4, 6, 6).to(memory_format=last),))


CASES = {"vision_misc": base}
