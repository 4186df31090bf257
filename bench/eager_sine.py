#!/usr/bin/env python3
"""Time of one training step of the few-shot sine network in eager PyTorch.

A plain reference of the few_shot form as docs/forms.md states it, written the way one writes it in
PyTorch; it prints one JSON object. Sizes default to those of the published network.
"""
import argparse
import json
import math
import time

import torch


class Sine(torch.nn.Module):
    def forward(self, x):
        return torch.sin(x)


class FewShot(torch.nn.Module):
    def __init__(self, width, layers, latent, groups, activation, ridge, relative):
        super().__init__()
        make = {"relu": torch.nn.ReLU, "gelu": torch.nn.GELU, "silu": torch.nn.SiLU,
                "tanh": torch.nn.Tanh, "sine": Sine}[activation]
        sizes = [1] + [width] * (layers - 1) + [latent or width]
        parts = []
        for i, (inner, outer) in enumerate(zip(sizes, sizes[1:])):
            parts += [torch.nn.Linear(inner, outer)] + ([make()] if i < layers - 1 else [])
        self.encoder = torch.nn.Sequential(*parts)
        self.slice = torch.nn.Linear(latent or width, groups)
        self.temperature = torch.nn.Parameter(torch.full((1, 1, 1), 0.5))
        self.ridge = ridge
        self.relative = relative

    def forward(self, context_x, context_y, query_x):
        context = self.encoder(context_x)
        query = self.encoder(query_x)
        logits = self.slice(context) / self.temperature.clamp(0.1, 5.0)
        weights = torch.softmax(logits, dim=1)
        mass = weights.sum(dim=1)
        tokens = weights.transpose(1, 2) @ context / (mass + 1e-5).unsqueeze(-1)
        values = weights.transpose(1, 2) @ context_y
        tokens64 = tokens.double()
        if tokens.shape[1] <= tokens.shape[2]:
            gram = tokens64 @ tokens64.transpose(1, 2)
            right = values.double()
        else:
            gram = tokens64.transpose(1, 2) @ tokens64
            right = tokens64.transpose(1, 2) @ values.double()
        ridge = self.ridge
        if self.relative:
            trace = gram.diagonal(dim1=1, dim2=2).sum(-1) / tokens.shape[1]
            ridge = (ridge * trace)[:, None, None]
        scale = 1.0 if self.relative else 1 - self.ridge
        system = scale * gram + ridge * torch.eye(gram.shape[-1], dtype=gram.dtype)
        solved = torch.cholesky_solve(right, torch.linalg.cholesky(system)).float()
        if tokens.shape[1] <= tokens.shape[2]:
            solved = tokens.transpose(1, 2) @ solved
        return query @ solved


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--context", type=int, default=32)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--latent", type=int, default=0)
    parser.add_argument("--basis", type=int, default=8)
    parser.add_argument("--activation", default="relu")
    parser.add_argument("--ridge", type=float, default=1e-4)
    parser.add_argument("--relative-ridge", action="store_true")
    parser.add_argument("--loss", choices=["mse", "log_relative_l2"], default="mse")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    model = FewShot(options.width, options.layers, options.latent, options.basis,
                    options.activation, options.ridge, options.relative_ridge)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.0)

    def draw(points, amplitude, phase):
        x = torch.rand(options.batch, points, 1) * 12 - 6
        return x, amplitude * torch.sin(x - phase)

    def step():
        amplitude = torch.rand(options.batch, 1, 1) * 4.9 + 0.1
        phase = torch.rand(options.batch, 1, 1) * math.pi
        context_x, context_y = draw(options.context, amplitude, phase)
        query_x, query_y = draw(options.queries, amplitude, phase)
        error = (model(context_x, context_y, query_x) - query_y).square()
        if options.loss == "mse":
            loss = error.mean()
        else:
            relative = error.sum(dim=(1, 2)) / query_y.square().sum(dim=(1, 2))
            loss = (relative + 1e-12).log().mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        return loss.item()

    for _ in range(20):
        step()
    times = []
    for _ in range(options.steps):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    times.sort()
    print(json.dumps({"ms_per_step": 1e3 * times[len(times) // 2],
                      "ms_per_step_mean": 1e3 * sum(times) / len(times),
                      "parameters": sum(p.numel() for p in model.parameters())}))


if __name__ == "__main__":
    main()
