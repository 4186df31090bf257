"""What the mean field of the training samples knows of others.

`python3 bench/results/fields.py TRAIN TEST ARRAY` prints the mean relative L2 error, every point counting
alike, over the image files of TEST of the mean of ARRAY over those of TRAIN, taken from the nearest point
where the grids differ.
"""
import math
import pathlib
import statistics
import sys

import apart


def training_mean(tests):
    """As error_of_mean() of the published Darcy data, in a process of its own."""
    return float(apart.run(__file__, pathlib.Path(tests).parent / "train16", tests, "pressure"))


def error_of_mean(train, test, array):
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy

    def samples(folder):
        files = sorted(pathlib.Path(folder).glob("*.vti"))
        if not files:
            raise FileNotFoundError(f"no .vti files in {folder}")
        return map(apart.read, files)

    def field(grid):
        return vtk_to_numpy(grid.GetPointData().GetArray(array)).astype(float)

    total, count = 0, 0
    for known in samples(train):
        total, count = total + field(known), count + 1
    locator = vtk.vtkStaticPointLocator()
    locator.SetDataSet(known)
    locator.BuildLocator()
    errors = []
    for sample in samples(test):
        nearest = [locator.FindClosestPoint(sample.GetPoint(point))
                   for point in range(sample.GetNumberOfPoints())]
        truth = field(sample)
        difference = (total / count)[nearest] - truth
        errors.append(math.sqrt((difference ** 2).sum() / (truth ** 2).sum()))
    return statistics.mean(errors)


if __name__ == "__main__":
    print(error_of_mean(*sys.argv[1:]))
