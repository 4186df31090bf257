"""The forms shared_basis and shared_basis_tied in plain PyTorch, as one writes a network.

Written from docs/forms.md and docs/operator_file.md, as something to compare with: in speed and
memory by bench/eager.py, and in its results, which it reaches by other code. Parameters have the
names of the operator file. All points weigh alike.
"""
import json
import math
import struct

import torch
from torch import nn


def read_operator(path):
    """Model configuration (a dict) and weights (name to tensor) of an operator file."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = bytearray(file.read())
    metadata = header.pop("__metadata__")
    dtypes = {"F32": torch.float32, "F64": torch.float64}
    weights = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = torch.frombuffer(data[begin:end], dtype=dtypes[entry["dtype"]])
        weights[name] = values.view(entry["shape"])
    return json.loads(metadata["model"]), weights


class Mlp(nn.Module):
    def __init__(self, inner, hidden, outer):
        super().__init__()
        self.linear_pre = nn.Sequential(nn.Linear(inner, hidden), nn.GELU())
        self.linear_post = nn.Linear(hidden, outer)

    def forward(self, x):
        return self.linear_post(self.linear_pre(x))


def add_projection(module, model, slice_name):
    """The maps from points to basis and field, in `module` itself, whose parameters they are."""
    width, heads = model["width"], model["heads"]
    module.in_project_x = nn.Linear(width, width)
    module.in_project_fx = nn.Linear(width, width)
    setattr(module, slice_name, nn.Linear(width // heads, model["basis"]))
    module.temperature = nn.Parameter(torch.full((1, heads, 1, 1), 0.5))


class Attention(nn.Module):
    def __init__(self, model, tied):
        super().__init__()
        self.heads = model["heads"]
        self.reference_points = model["reference_points"]
        channels = model["width"] // self.heads
        if not tied:
            add_projection(self, model, "slice1")
        self.alpha = nn.Parameter(torch.zeros(1))
        self.to_q = nn.Linear(channels, channels, bias=False)
        self.to_k = nn.Linear(channels, channels, bias=False)
        self.to_v = nn.Linear(channels, channels, bias=False)
        self.to_out = nn.Sequential(nn.Linear(model["width"], model["width"]))

    def split_heads(self, x):
        batch, points, width = x.shape
        return x.view(batch, points, self.heads, width // self.heads).transpose(1, 2)

    def transport(self, coefficients):
        q, k, v = (to(coefficients).double() for to in (self.to_q, self.to_k, self.to_v))
        blend = torch.sigmoid(self.alpha.double())
        kt = k.transpose(-2, -1)
        functions, channels = k.shape[-2:]
        identity = torch.eye(min(functions, channels), dtype=k.dtype)
        if functions <= channels:
            factor = torch.linalg.cholesky((1 - blend) * k @ kt + blend * identity)
            moved = q @ (kt @ torch.cholesky_solve(v, factor))
        else:
            factor = torch.linalg.cholesky((1 - blend) * kt @ k + blend * identity)
            moved = q @ torch.cholesky_solve(kt @ v, factor)
        return moved.to(coefficients.dtype)

    def forward(self, x, projection):
        if projection is None:
            logits = self.slice1(self.split_heads(self.in_project_x(x)))
            basis = torch.softmax(logits / self.temperature.clamp(0.1, 5.0), dim=-1)
            field = self.split_heads(self.in_project_fx(x))
        else:
            logits = projection.in_project_slice(self.split_heads(projection.in_project_x(x)))
            basis = torch.softmax(logits / projection.temperature, dim=-1)
            field = self.split_heads(projection.in_project_fx(x))
        points = x.shape[1]
        floor = 1e-5 * points / (self.reference_points or points)
        mass = basis.sum(dim=2).unsqueeze(-1)
        coefficients = basis.transpose(-2, -1) @ field / (mass + floor)
        moved = basis @ self.transport(coefficients)
        return self.to_out(moved.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, model, tied, last):
        super().__init__()
        width = model["width"]
        self.ln_1 = nn.LayerNorm(width)
        self.Attn = Attention(model, tied)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = Mlp(width, model["mlp_ratio"] * width, width)
        self.last = last
        if last:
            self.ln_3 = nn.LayerNorm(width)
            self.mlp2 = nn.Linear(width, model["out_features"])

    def forward(self, x, projection):
        x = self.Attn(self.ln_1(x), projection) + x
        x = self.mlp(self.ln_2(x)) + x
        return self.mlp2(self.ln_3(x)) if self.last else x


class Network(nn.Module):
    """Features of the points [batch, points, inputs] to values [batch, points, outputs]."""

    def __init__(self, model):
        super().__init__()
        if model["form"] not in ("shared_basis", "shared_basis_tied"):
            raise ValueError("eager_network.py knows shared_basis and shared_basis_tied, not "
                             + model["form"])
        width = model["width"]
        self.tied = model["form"] == "shared_basis_tied"
        if self.tied:
            add_projection(self, model, "in_project_slice")
        inputs = model["coordinate_dimension"] + model["value_features"]
        self.preprocess = Mlp(inputs, 2 * width, width)
        self.placeholder = nn.Parameter(torch.zeros(width))
        self.blocks = nn.ModuleList(Block(model, self.tied, i + 1 == model["blocks"])
                                    for i in range(model["blocks"]))

    def forward(self, features):
        x = self.preprocess(features) + self.placeholder
        for block in self.blocks:
            x = block(x, self if self.tied else None)
        return x


def load_network(path):
    """The network of an operator file, and its model configuration."""
    model, weights = read_operator(path)
    network = Network(model).to(next(iter(weights.values())).dtype)
    network.load_state_dict(weights)
    return network, model


def uniform_numbers(rows, columns, seed):
    """Uniform in [0, 1), float32 [rows, columns]: SplitMix64 as bench/bench_points.h states it."""
    increment = 0x9E3779B97F4A7C15

    def signed(number):
        number %= 1 << 64
        return number - (1 << 64) if number >> 63 else number

    def shifted(state, bits):  # Logical: a shift of signed numbers copies the sign.
        return (state >> bits) & ((1 << (64 - bits)) - 1)

    numbers = torch.empty(rows * columns)
    chunk = 1 << 16  # Little memory, so that the peak of the network stands out.
    for begin in range(0, rows * columns, chunk):
        part = numbers[begin:begin + chunk]
        state = torch.arange(len(part)) * signed(increment) + signed(seed + (begin + 1) * increment)
        state = (state ^ shifted(state, 30)) * signed(0xBF58476D1CE4E5B9)
        state = (state ^ shifted(state, 27)) * signed(0x94D049BB133111EB)
        state = state ^ shifted(state, 31)
        part.copy_(shifted(state, 40).double() * math.ldexp(1, -24))
    return numbers.view(rows, columns)


def targets(coordinates, outputs):
    """What bench/bench_points.h trains on, float32 [points, outputs]."""
    phases = torch.arange(coordinates.shape[1])[:, None] + torch.arange(outputs)[None, :]
    return (3 * coordinates.double()[:, :, None] + phases).sin().sum(dim=1).float()
