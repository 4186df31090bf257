"""Surfaces with labels, moved to their own centre; what their nearest neighbours know.

`python3 bench/results/surfaces.py SOURCE TARGET` moves those of train/ and test/ in SOURCE.
"""
import pathlib
import statistics
import sys

import apart


def centered(source, target, every=1):
    """As move_to_center(), in a process of its own."""
    apart.run(__file__, source, target, every)


def nearest_label(tests):
    """As share_by_nearest() of the folder above the tests, in a process of its own."""
    return float(apart.run(__file__, pathlib.Path(tests).parent))


def move_to_center(source, target, every=1):
    """Copies train/ and test/ with the mean of each surface's points at the origin.

    @param every of how many training surfaces one is taken
    """
    import vtk
    for folder, step in [("train", int(every)), ("test", 1)]:
        files = sorted((pathlib.Path(source) / folder).glob("*.vtp"))
        if not files:
            raise FileNotFoundError(f"no .vtp files in {pathlib.Path(source) / folder}")
        (pathlib.Path(target) / folder).mkdir(parents=True)
        for file in files[::step]:
            surface = apart.read(file)
            center = vtk.vtkCenterOfMass()
            center.SetInputData(surface)
            center.Update()
            move = vtk.vtkTransform()
            move.Translate(*(-x for x in center.GetCenter()))
            moved = vtk.vtkTransformPolyDataFilter()
            moved.SetTransform(move)
            moved.SetInputData(surface)
            writer = vtk.vtkXMLPolyDataWriter()
            writer.SetInputConnection(moved.GetOutputPort())
            writer.SetFileName(str(pathlib.Path(target) / folder / file.name))
            writer.Write()


def share_by_nearest(folder):
    """Mean over the test surfaces: share of points with the label of the nearest training point."""
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
    folder = pathlib.Path(folder)
    everything = vtk.vtkAppendPolyData()
    for file in sorted((folder / "train").glob("*.vtp")):
        everything.AddInputData(apart.read(file))
    everything.Update()
    known = everything.GetOutput()
    labels = vtk_to_numpy(known.GetPointData().GetArray("label"))
    locator = vtk.vtkStaticPointLocator()
    locator.SetDataSet(known)
    locator.BuildLocator()
    shares = []
    for file in sorted((folder / "test").glob("*.vtp")):
        surface = apart.read(file)
        nearest = [locator.FindClosestPoint(surface.GetPoint(point))
                   for point in range(surface.GetNumberOfPoints())]
        truth = vtk_to_numpy(surface.GetPointData().GetArray("label"))
        shares.append(float((labels[nearest] == truth).mean()))
    return statistics.mean(shares)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        move_to_center(*sys.argv[1:])
    else:
        print(share_by_nearest(sys.argv[1]))
