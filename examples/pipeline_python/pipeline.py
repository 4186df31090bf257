#!/usr/bin/python3
"""A mesh-processing script with the stage in its middle: read, clean, predict, threshold, write.

Usage: pipeline.py MESH.vtp OPERATOR.safetensors OUTPUT.vtp [--array NAME] [--lower VALUE]
"""

import argparse
import sys

from vtkmodules.vtkCommonDataModel import vtkDataObject
from vtkmodules.vtkFiltersCore import vtkCleanPolyData, vtkThresholdPoints
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader, vtkXMLPolyDataWriter

import funcattn


def read(path):
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(path)
    reader.Update()
    if not reader.GetOutput().GetNumberOfPoints():
        sys.exit(f"{path} has no points")
    return reader.GetOutput()


def clean(mesh):
    """Without points that coincide or that no cell uses."""
    cleaner = vtkCleanPolyData()
    cleaner.SetInputData(mesh)
    cleaner.Update()
    return cleaner.GetOutput()


def above(mesh, array, lower):
    """The points that have at least this value, as a cloud."""
    threshold = vtkThresholdPoints()
    threshold.SetInputData(mesh)
    threshold.SetInputArrayToProcess(0, 0, 0, vtkDataObject.FIELD_ASSOCIATION_POINTS, array)
    threshold.ThresholdByUpper(lower)
    threshold.Update()
    return threshold.GetOutput()


def write(mesh, path):
    writer = vtkXMLPolyDataWriter()
    writer.SetInputData(mesh)
    writer.SetFileName(path)
    writer.Write()
    if writer.GetErrorCode():
        sys.exit(f"cannot write {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mesh")
    parser.add_argument("operator")
    parser.add_argument("output")
    parser.add_argument("--array", default="y_predicted", help="which prediction to threshold")
    parser.add_argument("--lower", type=float, default=0.0, help="its least value")
    arguments = parser.parse_args()

    mesh = clean(read(arguments.mesh))
    try:
        predicted = funcattn.run(mesh, arguments.operator)
    except funcattn.Error as error:
        sys.exit(f"{arguments.mesh}: {error}")
    kept = above(predicted, arguments.array, arguments.lower)
    write(kept, arguments.output)
    print(f"{arguments.output}: {kept.GetNumberOfPoints()} of {mesh.GetNumberOfPoints()} points have "
          f"{arguments.array} of at least {arguments.lower:g}")


if __name__ == "__main__":
    main()
