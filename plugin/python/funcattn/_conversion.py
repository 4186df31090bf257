"""NumPy arrays to VTK data sets and back."""

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import (vtkCellArray, vtkCompositeDataSet, vtkDataSet,
                                           vtkPolyData)

from ._errors import DataError, UsageError
from ._options import did_you_mean

WEIGHTS_NAME = "funcattn weights"


def is_vtk_data(data):
    return isinstance(data, (vtkDataSet, vtkCompositeDataSet))


def is_pyvista(data):
    return any(kind.__module__.partition(".")[0] == "pyvista" for kind in type(data).__mro__)


def _rows(values, what, count=None):
    """Values as a contiguous [n, C] array of numbers; NaN where those of a masked array are masked."""
    masked = np.ma.getmaskarray(values) if np.ma.is_masked(values) else None
    array = np.asarray(values)
    if masked is not None and array.dtype.kind in "biuf":
        array = np.where(masked, np.nan, array)
    if array.dtype.kind not in "biuf":
        raise DataError(f"{what} holds values of type {array.dtype}, expected numbers")
    if array.dtype.kind == "b":
        array = array.astype(np.uint8)
    elif array.dtype == np.float16 or array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        raise DataError(f"{what} has shape {np.shape(values)}, expected [n] or [n, components]")
    if count is not None and len(array) != count:
        raise DataError(f"{what} has {len(array)} rows, expected one per point: {count}")
    return np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False))


def _add(attributes, name, rows):
    array = numpy_to_vtk(rows)
    array.SetName(name)
    attributes.AddArray(array)


def points_to_vtk(points, fields, weights, contract, what):
    """A cloud of vertices.

    points: [n, D], D from 1 to 3, the columns being x, y, z; [n] stands for [n, 1].
    fields: {name: [n] or [n, components]}, of the points.
    weights: [n] or None.
    """
    coordinates = _rows(points, what)
    count, dimension = coordinates.shape
    if not 1 <= dimension <= 3:
        raise DataError(f"{what} has shape {np.shape(points)}, expected [n, D] with D from 1 to 3")
    beyond = [axis for axis in contract["coordinates"]["axes"] if "xyz".index(axis) >= dimension]
    if beyond:
        raise DataError(f"{what} has {dimension} columns, but the operator uses the coordinates "
                        + ", ".join(contract["coordinates"]["axes"]))
    padded = np.zeros((count, 3))
    padded[:, :dimension] = coordinates

    cloud = vtkPolyData()
    vtk_points = vtkPoints()
    vtk_points.SetData(numpy_to_vtk(padded, deep=True))
    cloud.SetPoints(vtk_points)
    vertices = vtkCellArray()
    vertices.SetData(numpy_to_vtkIdTypeArray(np.arange(count + 1, dtype=np.int64), deep=True),
                     numpy_to_vtkIdTypeArray(np.arange(count, dtype=np.int64), deep=True))
    cloud.SetVerts(vertices)

    of_cells = contract["outputs"][0]["association"] == "cell"
    attributes = cloud.GetCellData() if of_cells else cloud.GetPointData()
    parameters = [item["name"] for item in contract["inputs"] if item["role"] == "parameter"]
    needed = [item["name"] for item in contract["inputs"] if item["name"] not in parameters]
    for name, values in fields.items():
        if name in parameters:
            raise UsageError(f"'{name}' is a parameter of the operator, one value for all points; "
                             f"give it as parameters={{'{name}': ...}}")
        if name not in needed:
            raise UsageError(f"the operator has no input '{name}'" + did_you_mean(name, needed))
        _add(attributes, name, _rows(values, f"field '{name}'", count))
    if weights is not None:
        if np.ma.is_masked(weights):
            raise DataError("weights are masked at some points; fill them with the weight that is "
                            "meant: 0 for points that take no part (weights.filled(0))")
        _add(attributes, WEIGHTS_NAME, _rows(weights, "weights", count))
    return cloud


def result_to_numpy(cloud, given, contract, suffix):
    """{output: [n] or [n, components]} of the outputs that were handed back, and under their own names
    what else was added to the cloud that was `given`: basis functions and transports."""
    of_cells = contract["outputs"][0]["association"] == "cell"
    kind = "GetCellData" if of_cells else "GetPointData"
    outputs = {output["name"] + suffix + kept: output["name"] + kept
               for output in contract["outputs"] for kept in ("", "_probability")}
    result = {}
    for part in (kind, "GetFieldData"):
        before, after = getattr(given, part)(), getattr(cloud, part)()
        for name in map(after.GetArrayName, range(after.GetNumberOfArrays())):
            if after.GetArray(name) is not before.GetArray(name):
                result[outputs.get(name, name)] = vtk_to_numpy(after.GetArray(name))
    return result
