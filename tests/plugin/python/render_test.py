"""Rendering in a process that runs operators gives the same picture before and after."""

import unittest

import numpy as np
from support import SINE, SURROGATE, array, read
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersGeometry import vtkGeometryFilter
from vtkmodules.vtkRenderingCore import (vtkActor, vtkPolyDataMapper, vtkRenderer, vtkRenderWindow,
                                         vtkWindowToImageFilter)
import vtkmodules.vtkRenderingOpenGL2  # noqa: F401  The implementation of the classes above.


def picture(mesh, name):
    """RGB of the mesh coloured by a point array, [height, width, 3]."""
    surface = vtkGeometryFilter()
    surface.SetInputData(mesh)
    mapper = vtkPolyDataMapper()
    mapper.SetInputConnection(surface.GetOutputPort())
    mapper.SetScalarModeToUsePointFieldData()
    mapper.SelectColorArray(name)
    mapper.SetScalarRange(*mesh.GetPointData().GetArray(name).GetRange())
    actor = vtkActor()
    actor.SetMapper(mapper)
    renderer = vtkRenderer()
    renderer.AddActor(actor)
    window = vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetSize(160, 120)
    window.AddRenderer(renderer)
    window.Render()
    image = vtkWindowToImageFilter()
    image.SetInput(window)
    image.Update()
    output = image.GetOutput()
    return vtk_to_numpy(output.GetPointData().GetScalars()).reshape(120, 160, 3).copy()


class Render(unittest.TestCase):
    def test_before_and_after_inference(self):
        mesh = read("grid.vtu")
        before = picture(mesh, "load")
        self.assertGreater(len(np.unique(before.reshape(-1, 3), axis=0)), 20)

        import funcattn  # LibTorch comes into a process that has rendered already.

        predicted = funcattn.run(mesh, SURROGATE, threads=1)
        np.testing.assert_array_equal(picture(predicted, "load"), before)
        of_prediction = picture(predicted, "pressure_predicted")
        self.assertGreater(len(np.unique(of_prediction.reshape(-1, 3), axis=0)), 20)
        self.assertGreater(abs(of_prediction.astype(int) - before).max(), 50)
        again = funcattn.run(mesh, SURROGATE, threads=1)
        np.testing.assert_array_equal(array(again, "pressure_predicted"),
                                      array(predicted, "pressure_predicted"))
        funcattn.Operator(SINE)


if __name__ == "__main__":
    unittest.main()
