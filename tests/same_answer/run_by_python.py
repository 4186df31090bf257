"""Runs funcattn.run on a mesh and prints its predictions.

usage: run_by_python.py OPERATOR MESH
"""

import sys

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkDataSet
from vtkmodules.vtkIOXML import vtkXMLGenericDataObjectReader, vtkXMLMultiBlockDataReader

import funcattn


def read(path):
    reader = (vtkXMLMultiBlockDataReader if path.endswith(".vtm")
              else vtkXMLGenericDataObjectReader)()
    reader.SetFileName(path)
    reader.Update()
    return reader.GetOutputDataObject(0)


def leaves(data):
    if isinstance(data, vtkDataSet):
        return [data]
    iterator = data.NewIterator()
    found = []
    iterator.InitTraversal()
    while not iterator.IsDoneWithTraversal():
        found.append(iterator.GetCurrentDataObject())
        iterator.GoToNextItem()
    return found


for leaf in leaves(funcattn.run(read(sys.argv[2]), sys.argv[1])):
    columns = []
    for attributes in (leaf.GetPointData(), leaf.GetCellData()):
        for i in range(attributes.GetNumberOfArrays()):
            if attributes.GetArrayName(i).endswith("_predicted"):
                values = vtk_to_numpy(attributes.GetArray(i))
                columns.append(values.reshape(len(values), -1))
    for row in np.hstack(columns):
        print(*map(repr, map(float, row)))
