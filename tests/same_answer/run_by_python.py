"""The Python package as a front end: prints what funcattn.run makes of a mesh that VTK reads.

usage: run_by_python.py OPERATOR MESH
"""

import sys

from vtkmodules.vtkIOXML import vtkXMLGenericDataObjectReader, vtkXMLMultiBlockDataReader

import funcattn
from prediction_text import print_prediction


def read(file):
    reader = (vtkXMLMultiBlockDataReader if file.endswith(".vtm")
              else vtkXMLGenericDataObjectReader)()
    reader.SetFileName(file)
    reader.Update()
    return reader.GetOutputDataObject(0)


print_prediction(funcattn.run(read(sys.argv[2]), sys.argv[1], threads=1))
