"""What a constant knows of the states of Burgers' equation.

`python3 bench/results/states.py FOLDER` prints the mean relative L2 error over its samples of the mean of
the initial state, which the flow keeps, in place of the final state.
"""
import math
import pathlib
import statistics
import sys

import apart


def initial_mean(tests):
    """As error_of_mean(), in a process of its own."""
    return float(apart.run(__file__, tests))


def error_of_mean(folder):
    from vtk.util.numpy_support import vtk_to_numpy
    errors = []
    for file in sorted(pathlib.Path(folder).glob("*.vtp")):
        data = apart.read(file).GetPointData()
        initial, final, weight = [vtk_to_numpy(data.GetArray(name)) for name in ("u0", "u1", "weight")]
        mean = (weight * initial).sum() / weight.sum()
        errors.append(math.sqrt((weight * (final - mean) ** 2).sum() / (weight * final ** 2).sum()))
    return statistics.mean(errors)


if __name__ == "__main__":
    print(error_of_mean(sys.argv[1]))
