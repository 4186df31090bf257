#!/usr/bin/env python3
"""Time of one training step of the sine task: `funcattn train` against eager PyTorch.

Both train the same network on the same kind of batches with the same number of threads, one after
the other in turns; PyTorch with the allocator as it comes and with one that keeps its memory. The
time of funcattn is that of the whole run, drawing of batches, log and final validation included,
divided by the steps. Prints a table and, with --json FILE, writes the numbers.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from measuring import KEEP_MEMORY

NETWORKS = {
    "published (ReLU, width 128)": dict(
        width=128, layers=4, latent=0, basis=8, activation="relu", ridge=1e-4, relative=False,
        loss="mse", context=32, queries=200, batch=8),
    "recipe of the task (sine, width 32)": dict(
        width=32, layers=3, latent=2, basis=16, activation="sine", ridge=1e-8, relative=True,
        loss="log_relative_l2", context=32, queries=64, batch=8),
}


def funcattn_step(program, network, threads, steps):
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "train", "--task", "sine", "--json", "--quiet",
                   "--out", os.path.join(folder, "op.safetensors"),
                   "--threads", str(threads), "--steps", str(steps),
                   "--validate-every", str(steps),
                   "--batch", str(network["batch"]), "--context", str(network["context"]),
                   "--queries", str(network["queries"]), "--width", str(network["width"]),
                   "--encoder-layers", str(network["layers"]), "--basis", str(network["basis"]),
                   "--latent", str(network["latent"] or network["width"]),
                   "--activation", network["activation"], "--ridge", repr(network["ridge"]),
                   "--ridge-scale", "relative" if network["relative"] else "absolute",
                   "--loss", network["loss"], "--lr", "1e-4"]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(output)["ms_per_step"]


def eager_step(network, threads, steps, environment):
    script = pathlib.Path(__file__).with_name("eager_sine.py")
    command = [sys.executable, str(script), "--threads", str(threads), "--steps", str(steps)]
    for name in ("batch", "context", "queries", "width", "layers", "latent", "basis",
                 "activation", "ridge", "loss"):
        command += ["--" + name, str(network[name])]
    if network["relative"]:
        command.append("--relative-ridge")
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE,
                            env={**os.environ, **environment}).stdout
    return json.loads(output)["ms_per_step"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--funcattn", required=True, help="the built command")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", help="file for the numbers")
    options = parser.parse_args()
    rows = []
    print(f"{'network':36} {'threads':>7} {'funcattn':>9} {'eager':>9} {'eager, tuned':>12} "
          f"{'share':>6} {'of tuned':>8}")
    for name, network in NETWORKS.items():
        for threads in options.threads:
            ours, default, tuned = [], [], []
            for _ in range(options.rounds):
                ours.append(funcattn_step(options.funcattn, network, threads, options.steps))
                default.append(eager_step(network, threads, options.steps // 4, {}))
                tuned.append(eager_step(network, threads, options.steps // 4, KEEP_MEMORY))
            row = {"network": name, "threads": threads, "funcattn_ms": statistics.median(ours),
                   "eager_ms": statistics.median(default),
                   "eager_tuned_ms": statistics.median(tuned)}
            rows.append(row)
            print(f"{name:36} {threads:7} {row['funcattn_ms']:6.2f} ms {row['eager_ms']:6.2f} ms "
                  f"{row['eager_tuned_ms']:9.2f} ms {row['funcattn_ms'] / row['eager_ms']:6.2f} "
                  f"{row['funcattn_ms'] / row['eager_tuned_ms']:8.2f}", flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
