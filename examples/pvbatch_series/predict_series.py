"""A time series in pvbatch: a trained operator, predictions per step, files and a screenshot.

usage: pvbatch predict_series.py PLUGIN OPERATOR SERIES OUTPUT_FOLDER

SERIES is a .pvd collection (or any file with time steps that ParaView reads) of lines with the known
values that the sine operator needs. OUTPUT_FOLDER gets predicted.pvd with all steps and
predicted.png, the last step: the known points on the curve that the operator makes of them.
"""

import sys
from pathlib import Path

from paraview import servermanager, simple


def main(plugin, operator_file, series_file, output_folder):
    simple.LoadPlugin(plugin, remote=False, ns=vars(simple))

    series = simple.OpenDataFile(series_file)
    predicted = simple.NeuralOperator(Input=series, OperatorFile=operator_file, Threads=1)
    print(f"needs {predicted.OperatorInputs!s}\ngives {predicted.OperatorOutputs!s}")

    times = list(series.TimestepValues)
    for time in times:
        predicted.UpdatePipeline(time)
        data = servermanager.Fetch(predicted)
        # ParaView reports an error and carries on; what it hands on then has no such array.
        if data.GetPointData().GetArray("y_predicted") is None:
            sys.exit(f"step {time}: nothing was predicted")
        low, high = data.GetPointData().GetArray("y_predicted").GetRange()
        print(f"step {time:g}: {data.GetNumberOfPoints()} points, y from {low:.3f} to {high:.3f}")

    folder = Path(output_folder)
    folder.mkdir(parents=True, exist_ok=True)
    simple.SaveData(str(folder / "predicted.pvd"), proxy=predicted, WriteTimeSteps=1)
    save_picture(predicted, times[-1], folder / "predicted.png")


def save_picture(predicted, time, file):
    """The prediction as a height over x, and the points whose values were known."""
    view = simple.CreateView("RenderView")
    view.ViewSize = [900, 420]
    view.Background = [1, 1, 1]
    view.UseColorPaletteForBackground = 0
    view.OrientationAxesVisibility = 0
    view.ViewTime = time

    curve = simple.WarpByScalar(Input=predicted, Scalars=["POINTS", "y_predicted"], Normal=[0, 1, 0])
    tube = simple.Tube(Input=curve, Radius=0.05)
    display = simple.Show(tube, view)
    simple.ColorBy(display, ("POINTS", "y_predicted"))
    display.RescaleTransferFunctionToDataRange(False, True)
    display.SetScalarBarVisibility(view, True)
    colours = simple.GetColorTransferFunction("y_predicted")
    bar = simple.GetScalarBar(colours, view)
    bar.TitleColor = bar.LabelColor = [0, 0, 0]

    # The scatter of the known values: 0 where a value is not known gives a ball no size.
    known = simple.WarpByScalar(Input=predicted, Scalars=["POINTS", "y_context"], Normal=[0, 1, 0])
    balls = simple.Glyph(Input=known, GlyphType="Sphere", GlyphMode="All Points")
    balls.ScaleArray = ["POINTS", "context"]
    balls.ScaleFactor = 0.3
    balls_display = simple.Show(balls, view)
    balls_display.ColorArrayName = ["POINTS", ""]
    balls_display.AmbientColor = balls_display.DiffuseColor = [0.15, 0.15, 0.15]

    simple.ResetCamera(view)
    simple.GetActiveCamera().Zoom(1.8)
    simple.SaveScreenshot(str(file), view, ImageResolution=view.ViewSize)
    # A view that is alive when the script leaves by sys.exit() would change the exit status.
    simple.Delete(view)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
