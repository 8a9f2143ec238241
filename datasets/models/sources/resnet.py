# SPDX-License-Identifier: Apache-2.0
"""A small residual network: batch norm in both modes, in-place relu, channels_last, and without weights."""
import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, groups=2, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(y)) + x)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.body = Residual(8)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = self.body(self.pool(self.stem(x)))
        return self.head(torch.flatten(nn.functional.adaptive_avg_pool2d(x, 1), 1))


def image():
    return torch.randn(2, 3, 16, 16)


def channels_last():
    last = torch.channels_last
    return dict(model=ResNet().eval().to(memory_format=last), args=(image().to(memory_format=last),))


CASES = {
    "resnet_eval": lambda: dict(model=ResNet().eval(), args=(image(),)),
    "resnet_weightless": lambda: dict(model=ResNet().eval(), args=(image(),), weightless="state"),
    "resnet_train": lambda: dict(model=ResNet().train(), args=(image(),)),
    "resnet_train_core": lambda: dict(model=ResNet().train(), args=(image(),), decompose="core"),
    "resnet_channels_last": channels_last,
}
