"""What the tests of the Python package share."""

import os
from pathlib import Path

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import (vtkXMLGenericDataObjectReader, vtkXMLMultiBlockDataReader)

SOURCE = Path(os.environ["FUNCATTN_SOURCE_DIR"])
FIXTURES = Path(os.environ["FUNCATTN_FIXTURES"])
SURROGATE = FIXTURES / "surrogate.safetensors"
# The force is its parameter, in training from (0, -1, 2) to (1, 0, 2).
PARAMETRIC = FIXTURES / "parametric.safetensors"
SINE = SOURCE / "data" / "sine.safetensors"


def read(name):
    """A mesh among the fixtures."""
    reader = (vtkXMLMultiBlockDataReader if str(name).endswith(".vtm")
              else vtkXMLGenericDataObjectReader)()
    reader.SetFileName(str(FIXTURES / name))
    reader.Update()
    return reader.GetOutputDataObject(0)


def array(mesh, name):
    return vtk_to_numpy(mesh.GetPointData().GetArray(name))


def points_of(mesh):
    return np.array([mesh.GetPoint(i) for i in range(mesh.GetNumberOfPoints())])
