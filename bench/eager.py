#!/usr/bin/env python3
"""Time and memory of the network of an operator file in eager PyTorch: the counterpart of
`funcattn_engine_bench inference` and `training`, on the same points. Prints one JSON object."""
import argparse
import json
import statistics
import time

import torch

from eager_network import load_network, targets, uniform_numbers


class PeakMemory:
    """Resident memory above what it was when the object was made, at its highest."""

    def __init__(self):
        try:
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")  # Puts the high-water mark back to what is resident now.
        except OSError:
            pass  # The mark of the process's whole life stands: an upper bound.
        self.start = self.status("VmRSS")

    @staticmethod
    def status(field):
        with open("/proc/self/status") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith(field))

    def bytes(self):
        return self.status("VmHWM") - self.start


def measure(work, repeats, seconds):
    """Warm-up, then repeats as funcattn_engine_bench takes them: at most so many, none begun after
    that time; the warm-up counts where it outlasted it."""
    times = []
    begin = time.perf_counter()
    while not times or (len(times) <= repeats and time.perf_counter() - begin < seconds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    counted = times[1:] or times
    return {"best": min(counted), "median": statistics.median(counted), "first": times[0],
            "repeats": counted}


def difference(result, path):
    """Largest absolute difference from the raw float32 numbers in a file, over their largest
    magnitude."""
    with open(path, "rb") as file:
        expected = torch.frombuffer(bytearray(file.read()), dtype=torch.float32)
    found = result.reshape(-1).float()
    if found.shape != expected.shape:
        raise ValueError(f"{path} holds {len(expected)} numbers, expected {len(found)}")
    return float((found - expected).abs().max() / expected.abs().max())


def inference(network, features, options):
    network.eval()
    memory = PeakMemory()
    result = None

    def work():
        nonlocal result
        result = None
        with torch.no_grad():
            result = network(features)

    report = {"seconds": measure(work, options.repeats, options.seconds),
              "peak_bytes": memory.bytes()}
    if options.compare:
        report["difference"] = difference(result, options.compare)
    return report


def training(network, features, wanted, options):
    network.train()
    memory = PeakMemory()
    optimiser = torch.optim.AdamW(network.parameters(), lr=options.lr, weight_decay=0.0)
    losses = []

    def work():
        optimiser.zero_grad()
        loss = torch.linalg.vector_norm(network(features) - wanted) / \
            torch.linalg.vector_norm(wanted)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.item())

    return {"seconds": measure(work, options.repeats, options.seconds),
            "peak_bytes": memory.bytes(), "losses": losses}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["inference", "training"])
    parser.add_argument("--operator", required=True)
    parser.add_argument("--points", type=int, default=16384)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--lr", type=float, default=1e-4, help="of AdamW")
    parser.add_argument("--compare", help="result of funcattn_engine_bench inference")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)

    network, model = load_network(options.operator)
    dtype = next(network.parameters()).dtype
    coordinates = uniform_numbers(options.points, model["coordinate_dimension"], options.seed)
    values = uniform_numbers(options.points, model["value_features"], options.seed + 1)
    features = torch.cat((coordinates, values), dim=1).to(dtype).unsqueeze(0)
    report = {"what": options.what, "points": options.points, "threads": options.threads}
    if options.what == "inference":
        report.update(inference(network, features, options))
    else:
        wanted = targets(coordinates, model["out_features"]).to(dtype).unsqueeze(0)
        report.update(training(network, features, wanted, options))
    report["microseconds_per_point"] = 1e6 * report["seconds"]["best"] / options.points
    print(json.dumps(report))


if __name__ == "__main__":
    main()
