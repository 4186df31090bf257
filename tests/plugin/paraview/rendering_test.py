"""Pictures before and after LibTorch came into the process, off screen."""

import numpy
import support
from paraview import simple
from paraview.vtk.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOImage import vtkPNGReader


class Rendering(support.ParaViewTest):
    def picture(self, view, name):
        """The pixels of a screenshot [pixels, 3]."""
        file = str(self.folder / name)
        simple.SaveScreenshot(file, view, ImageResolution=[300, 200])
        reader = vtkPNGReader()
        reader.SetFileName(file)
        reader.Update()
        return vtk_to_numpy(reader.GetOutput().GetPointData().GetScalars())

    def test_pictures_before_and_after(self):
        view = simple.CreateView("RenderView")
        try:
            view.ViewSize = [300, 200]
            view.OrientationAxesVisibility = 0
            source = support.with_inputs(simple.Sphere(ThetaResolution=40, PhiResolution=40))
            simple.Show(source, view)
            simple.ResetCamera(view)
            before = self.picture(view, "before.png")
            covered = numpy.any(before != before[0], axis=1).mean()
            self.assertGreater(covered, 0.1)

            result = support.neural_operator(source)
            simple.Hide(source, view)
            display = simple.Show(result, view)
            simple.ColorBy(display, ("POINTS", "pressure_predicted"))
            display.RescaleTransferFunctionToDataRange()
            display.SetScalarBarVisibility(view, False)
            coloured = self.picture(view, "coloured.png")
            self.assertEqual(before.shape, coloured.shape)
            background = numpy.all(coloured == coloured[0], axis=1)
            self.assertGreater((~background).mean(), 0.1)
            colours = coloured[~background].astype(int)
            self.assertGreater(numpy.abs(colours[:, 0] - colours[:, 2]).max(), 100)

            simple.Hide(result, view)
            simple.Show(source, view)
            after = self.picture(view, "after.png")
            self.assertEqual(numpy.abs(after.astype(int) - before.astype(int)).max(), 0)
        finally:
            simple.Delete(view)


if __name__ == "__main__":
    support.main()
