#!/usr/bin/env python3
"""The networks of kondo-2019 in PyTorch, to compare with ours.

    pytorch_dcnn.py outputs FILE BOARD…   the outputs of a model file for boards, as JSON
    pytorch_dcnn.py fixture FILE          writes a few steps of training, for crates/dcnn/tests/it/pytorch.rs
    pytorch_dcnn.py speed [K]             samples/s of training in batches of 1,000, and boards/s one at a time
"""

import json
import sys
import time

import torch
from safetensors import safe_open
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional as F

TABLE_2 = {2: 436, 3: 312, 4: 256, 5: 222, 6: 200, 7: 182, 8: 168, 9: 158}


class Dcnn(nn.Module):
    def __init__(self, layers, channels, tile_values=16):
        super().__init__()
        self.tile_values = tile_values
        self.convs = []
        for k in range(1, layers + 1):
            conv = nn.Conv2d(tile_values if k == 1 else channels, channels, 2)
            self.add_module(f"conv{k}", conv)
            self.convs.append(conv)
        self.fc = nn.Linear(channels * 16, 4)

    def forward(self, boards):
        """Logits of up, right, down and left for boards of exponents (batch × 4 × 4)."""
        x = F.one_hot(boards.clamp(max=self.tile_values - 1), self.tile_values).permute(0, 3, 1, 2).float()
        for conv in self.convs:
            x = F.relu(conv(F.pad(x, (0, 1, 0, 1))))
        return self.fc(x.flatten(1))


def load(path):
    with safe_open(path, "pt") as file:
        about = file.metadata()
    model = Dcnn(*(int(about[key]) for key in ("layers", "channels", "tile_values")))
    model.load_state_dict(load_file(path))
    return model


def parse(boards):
    return torch.tensor([[int(cell, 18) for cell in board.replace("/", "")] for board in boards]).view(-1, 4, 4)


def outputs(path, *boards):
    with torch.no_grad():
        print(json.dumps(load(path)(parse(boards)).tolist()))


def numbers(tensors):
    return {name: {"shape": list(t.shape), "numbers": t.detach().flatten().tolist()} for name, t in tensors}


def fixture(path):
    torch.manual_seed(1)
    model = Dcnn(3, 4)
    for parameter in model.parameters():
        nn.init.uniform_(parameter, -0.1, 0.1)
    boards = ["0000001001000000", "12345678000000ab", "fedcba9876543210", "1111111111111111", "0123456700000000"]
    moves = [3, 0, 1, 2, 3]
    adam = torch.optim.Adam(model.parameters(), lr=0.001, eps=1e-8)
    result = {"boards": boards, "moves": moves, "before": numbers(model.named_parameters())}
    losses = []
    for step in range(3):
        adam.zero_grad()
        logits = model(parse(boards))
        loss = F.cross_entropy(logits, torch.tensor(moves))
        loss.backward()
        losses.append(loss.item())
        if step == 0:
            result["outputs"] = logits.flatten().tolist()
            result["gradient"] = numbers((name, p.grad) for name, p in model.named_parameters())
        adam.step()
    result |= {"losses": losses, "after": numbers(model.named_parameters())}
    with open(path, "w") as file:
        json.dump(result, file)


def speed(layers="5"):
    layers = int(layers)
    model = Dcnn(layers, TABLE_2[layers]).to(memory_format=torch.channels_last)
    adam = torch.optim.Adam(model.parameters(), lr=0.001, eps=1e-8)
    boards, moves = torch.randint(0, 12, (1000, 4, 4)), torch.randint(0, 4, (1000,))

    def step():
        adam.zero_grad()
        F.cross_entropy(model(boards), moves).backward()
        adam.step()

    def rate(run, samples, seconds=10.0):
        run()
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            run()
            count += samples
        return count / (time.perf_counter() - start)

    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads, k = {layers}")
    print(f"training   {rate(step, 1000):.0f} samples/s")
    with torch.no_grad():
        print(f"one board  {rate(lambda: model(boards[:1]), 1):.0f} boards/s")


if __name__ == "__main__":
    commands = {"outputs": outputs, "fixture": fixture, "speed": speed}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
