#!/usr/bin/env python3
"""Inference and training of funcattn beside eager PyTorch: the same weights, points and threads, in
turns, each measurement in a fresh process. docs/bench.md says what the figures mean."""
import argparse
import json
import pathlib
import sys
import tempfile

import engine_tables as tables
from engine_cases import Bench
from engine_goals import goals
from engine_picture import draw
from measuring import Failed, Limits, available_memory, describe_machine

SECTIONS = ["inference", "growth", "training", "stage"]
GIB = 2**30


def parse_arguments():
    parser = argparse.ArgumentParser(prog="./dev bench engine", description=__doc__)
    parser.add_argument("--program", required=True, help="the built funcattn_engine_bench")
    parser.add_argument("--out", type=pathlib.Path, required=True,
                        help="folder for engine.json and engine.png")
    parser.add_argument("--quick", action="store_true",
                        help="small sizes and few repeats: minutes, to see that all works")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS)
    parser.add_argument("--form", choices=["shared_basis_tied", "shared_basis"],
                        default="shared_basis_tied")
    parser.add_argument("--points", type=int, nargs="+", help="of inference "
                        "[131072 1048576; quick: 16384]")
    parser.add_argument("--threads", type=int, nargs="+", help="[1 and all cores; quick: all]")
    parser.add_argument("--training-points", type=int, help="[16384; quick: 4096]")
    parser.add_argument("--growth-points", type=int, nargs="+",
                        help="[10000 100000 1000000 10000000; quick: 4096 16384 65536]")
    parser.add_argument("--stage-points", type=int, help="[1000000; quick: 65536]")
    parser.add_argument("--rounds", type=int, help="turns of funcattn and PyTorch [3; quick: 1]")
    parser.add_argument("--repeats", type=int, help="most repeats in a process [5; quick: 2]")
    parser.add_argument("--limit", type=float, default=300,
                        help="seconds after which a process is ended [300]")
    parser.add_argument("--memory-limit", type=float,
                        help="GiB that a process may take [four fifths of what is available]")
    options = parser.parse_args()
    cores = describe_machine()["cores"]
    quick = options.quick
    defaults = {
        "points": [16384] if quick else [131072, 1048576],
        "threads": [cores] if quick else sorted({1, cores}),
        "training_points": 4096 if quick else 16384,
        "growth_points": [4096, 16384, 65536] if quick else [10**4, 10**5, 10**6, 10**7],
        "stage_points": 65536 if quick else 10**6,
        "rounds": 1 if quick else 3,
        "repeats": 2 if quick else 5,
        "memory_limit": 0.8 * available_memory() / GIB,
    }
    for name, value in defaults.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    return options


def measure(bench, options, report):
    """Fills the report section by section, printing each as it is known."""
    threads = max(options.threads)
    if "inference" in options.only:
        report["inference"] = []
        tables.print_inference_head()
        for count in options.threads:
            for points in sorted(options.points):
                row = bench.inference(points, count)
                report["inference"].append(row)
                tables.print_inference(row)
    if "growth" in options.only:
        small = 8192 if options.quick else 65536
        report["growth"] = []
        tables.print_growth_head(threads)
        for quantity, sizes, points in [("points", sorted(options.growth_points), None),
                                        ("width", [64, 128, 256], small),
                                        ("basis", [32, 64, 128, 256], small),
                                        ("blocks", [2, 4, 8, 16], small)]:
            row = bench.growth(quantity, sizes, points, threads)
            report["growth"].append(row)
            tables.print_growth(row)
    if "training" in options.only:
        report["training"] = []
        tables.print_training_head()
        for count in options.threads:
            row = bench.training(options.training_points, count)
            report["training"].append(row)
            tables.print_training(row)
    if "stage" in options.only:
        report["stage"] = bench.stage(options.stage_points, threads)
        tables.print_stage(report["stage"])


def main():
    options = parse_arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    machine = describe_machine()
    limits = Limits(options.limit, int(options.memory_limit * GIB))
    try:
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(options.program, pathlib.Path(folder), options.form, machine, limits,
                          options.rounds, options.repeats)
            report = {"machine": machine, "limits": vars(limits), "quick": options.quick,
                      "network": bench.network}
            tables.print_head(report)
            measure(bench, options, report)
        report["goals"] = goals(report)
        tables.print_goals(report["goals"])
        (options.out / "engine.json").write_text(json.dumps(report, indent=2) + "\n")
        draw(report, options.out / "engine.png")
    except Failed as error:
        sys.exit(f"./dev bench engine: {error}")
    print(f"\n{options.out / 'engine.json'}, {options.out / 'engine.png'}")


if __name__ == "__main__":
    main()
