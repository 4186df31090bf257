"""What the tests of ParaView's plugin share. They run in pvpython or pvbatch."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy
from paraview import servermanager, simple
from paraview.vtk.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkDataObjectTree, vtkDataSet

PLUGIN = os.environ["FUNCATTN_PARAVIEW_PLUGIN"]
SOURCE = Path(os.environ["FUNCATTN_SOURCE_DIR"])
FIXTURES = Path(os.environ["FUNCATTN_FIXTURES"])
COMMAND = os.environ["FUNCATTN_COMMAND"]
SURROGATE = str(FIXTURES / "surrogate.safetensors")


def load_plugin():
    """Adds NeuralOperator to paraview.simple. A plugin is loaded once per process."""
    if not hasattr(simple, "NeuralOperator"):
        simple.LoadPlugin(PLUGIN, remote=False, ns=vars(simple))


def neural_operator(source, **properties):
    """The filter on `source`; the surrogate and one thread unless told otherwise."""
    return simple.NeuralOperator(
        Input=source, **{"OperatorFile": SURROGATE, "Threads": 1, **properties}
    )


def with_inputs(source, load="coordsX*coordsY+1"):
    """What the surrogate needs, computed from the coordinates."""
    scalar = simple.Calculator(Input=source, ResultArrayName="load", Function=load)
    return simple.Calculator(
        Input=scalar,
        ResultArrayName="force",
        Function="iHat*coordsX+jHat*coordsY+kHat*2",
    )


def leaves(data):
    """The data sets of a tree, None for empty places, or the single data set."""
    if data is None or isinstance(data, vtkDataSet):
        return [data]
    assert isinstance(data, vtkDataObjectTree), type(data)
    iterator = data.NewTreeIterator()
    iterator.SkipEmptyNodesOff()
    iterator.VisitOnlyLeavesOn()
    found = []
    iterator.InitTraversal()
    while not iterator.IsDoneWithTraversal():
        found.append(iterator.GetCurrentDataObject())
        iterator.GoToNextItem()
    return found


def values(data, name):
    """A point array of a data set as NumPy array, float64."""
    array = data.GetPointData().GetArray(name)
    assert array is not None, f"no point array {name}"
    return vtk_to_numpy(array).astype(float)


def arrays_of(proxy):
    return sorted(proxy.PointData.keys())


class ParaViewTest(unittest.TestCase):
    """Every test begins with an empty pipeline and a folder of its own."""

    def setUp(self):
        load_plugin()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def tearDown(self):
        simple.ResetSession()

    def run_command(self, mesh, *options):
        """`funcattn run` with the surrogate on a file; the file that it wrote."""
        result = self.folder / ("command_" + Path(mesh).name)
        arguments = ["run", str(mesh), "--operator", SURROGATE, "--output", str(result)]
        subprocess.run(
            [COMMAND, *arguments, "--threads", "1", *options],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        return result

    def assert_same_answer(self, found, expected):
        """Both have the predicted arrays in the same places, equal to 1e-6 of their size."""
        self.assertEqual(len(leaves(found)), len(leaves(expected)))
        compared = 0
        for ours, theirs in zip(leaves(found), leaves(expected)):
            self.assertEqual(ours is None, theirs is None)
            if ours is None:
                continue
            for name in ("pressure_predicted", "displacement_predicted"):
                reference = values(theirs, name)
                self.assertGreater(numpy.ptp(reference), 1e-3)
                difference = numpy.abs(values(ours, name) - reference).max()
                self.assertLessEqual(difference, 1e-6 * numpy.abs(reference).max())
                compared += 1
        self.assertGreater(compared, 0)


def main():
    unittest.main(verbosity=2)
