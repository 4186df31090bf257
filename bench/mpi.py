"""Time, bytes and waiting of one prediction, weak and strong, and of training steps on 1 and 2 processes.

./dev bench mpi runs it. Each process computes with one thread; the model has the sizes of the
published networks (width 128, 8 heads, 64 functions, 8 blocks). A row is the fastest of the runs: others that
use the machine only ever make a run slower.
"""

import argparse
import json
import os
import subprocess

HEADER = "| | processes | points each | time s | per block: bytes sent | exchange ms | waiting ms |"
TRAINING = "| shared out | processes | time of a step s | per step: bytes sent | exchange ms | waiting ms |"


def measured(program, mpiexec, processes, points, repeats, *what):
    environment = dict(
        os.environ,
        OMPI_ALLOW_RUN_AS_ROOT="1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        OMPI_MCA_rmaps_base_oversubscribe="1",
        OMP_NUM_THREADS="1",
    )
    command = [mpiexec, "-n", str(processes), program, str(points), str(repeats), *what]
    result = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(result.stdout.strip().splitlines()[-1])


def row(name, report):
    run = min(report["runs"], key=lambda one: one["seconds"])
    blocks = report["blocks"]
    return (
        f"| {name} | {report['processes']} | {report['points']:,} | {run['seconds']:.3f} "
        f"| {run['bytes'] / blocks:,.0f} | {1e3 * run['moving'] / blocks:.2f} "
        f"| {1e3 * run['waiting'] / blocks:.2f} |"
    )


def training_row(name, report):
    run = min(report["runs"], key=lambda one: one["seconds"])
    return (
        f"| {name} | {report['processes']} | {run['seconds']:.3f} | {run['bytes']:,} "
        f"| {1e3 * run['moving']:.2f} | {1e3 * run['waiting']:.2f} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--training-points", type=int, default=8192)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    print(HEADER)
    print("|---|---|---|---|---|---|---|")
    for name, processes, points in [
        ("weak and strong", 1, arguments.points),
        ("weak", 2, arguments.points),
        ("strong", 2, arguments.points // 2),
    ]:
        report = measured(
            arguments.program, arguments.mpiexec, processes, points, arguments.repeats
        )
        print(row(name, report), flush=True)
    print()
    print(TRAINING)
    print("|---|---|---|---|---|---|")
    for name, processes in [("samples", 1), ("samples", 2), ("domain", 1), ("domain", 2)]:
        report = measured(
            arguments.program,
            arguments.mpiexec,
            processes,
            arguments.training_points,
            arguments.repeats,
            name,
        )
        print(training_row(name, report), flush=True)


if __name__ == "__main__":
    main()
