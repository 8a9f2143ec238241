# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers: one node with many weights in a list; and a strict export, whose traces look different."""
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(16, 4, padding_idx=0)
        self.lstm = nn.LSTM(4, 4, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, tokens):
        y, (h, _) = self.lstm(self.embed(tokens))
        return self.head(y), h


class Gru(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 4)

    def forward(self, x):
        return self.gru(x)[0].amax(0)


CASES = {
    "lstm": lambda: dict(model=Tagger().eval(), args=(torch.arange(10).view(2, 5),)),
    "gru": lambda: dict(model=Gru().eval(), args=(torch.randn(5, 2, 4),)),
    "gru_strict": lambda: dict(model=Gru().eval(), args=(torch.randn(5, 2, 4),), export=dict(strict=True)),
}
