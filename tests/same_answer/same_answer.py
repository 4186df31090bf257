"""Runs one front end on every case and compares with the answer of OperatorStage.

usage: same_answer.py CASES NAME COMMAND...

In COMMAND, {operator}, {mesh} and {arrays} stand for the files of a case. It prints a line per entry
(point or cell, in the order of the leaves) with the values of all outputs side by side.
"""

import math
import pathlib
import subprocess
import sys

TOLERANCE = 1e-6  # Of the largest absolute value of the output.


def read_rows(text):
    return [[float(word) for word in line.split()] for line in text.splitlines()]


def largest_difference(expected, found):
    """Largest over the columns, each relative to its largest absolute value; raises on shapes."""
    shape = (len(expected), {len(row) for row in expected})
    if (len(found), {len(row) for row in found}) != shape:
        raise ValueError(f"{len(found)} rows of {[len(row) for row in found[:1]]} values, "
                         f"expected {shape[0]} of {shape[1]}")
    worst = 0.0
    for of_expected, of_found in zip(zip(*expected), zip(*found)):
        scale = max(abs(value) for value in of_expected)
        spread = max(of_expected) - min(of_expected)
        if not spread > 1e-3 * scale > 0:
            raise ValueError("the expected values hardly vary: the case proves nothing")
        for a, b in zip(of_expected, of_found):
            difference = abs(a - b) / scale
            if not difference <= worst:  # NaN too.
                worst = difference
            if math.isnan(worst):
                return worst
    return worst


def main(cases_folder, name, *command):
    folder = pathlib.Path(cases_folder)
    cases = (folder / "cases.txt").read_text().splitlines()
    failures = 0
    for line in cases:
        case, operator, mesh = line.split("\t")
        files = {"operator": operator, "mesh": mesh, "arrays": str(folder / f"{case}.arrays")}
        run = subprocess.run([part.format(**files) for part in command], stdout=subprocess.PIPE,
                             text=True)
        try:
            if run.returncode != 0:
                raise ValueError(f"exit status {run.returncode}")
            worst = largest_difference(read_rows((folder / f"{case}.expected").read_text()),
                                       read_rows(run.stdout))
        except ValueError as error:
            print(f"{name} {case}: {error}")
            failures += 1
            continue
        good = worst <= TOLERANCE
        failures += not good
        print(f"{name} {case}: largest difference {worst:.1e}{'' if good else '  TOO LARGE'}")
    print(f"{name}: {len(cases) - failures} of {len(cases)} cases give the same answer")
    return 0 if failures == 0 and len(cases) >= 8 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
