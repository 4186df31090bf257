"""What paraview.sh shows in ParaView's window: known points of a function, and the filter on them.

Run by paraview --script; FUNCATTN_* in the environment name the plugin, the operator and the mesh.
"""

import os

from paraview import simple

simple.LoadPlugin(os.environ["FUNCATTN_PARAVIEW_PLUGIN"], remote=False, ns=vars(simple))
mesh = simple.OpenDataFile(os.environ["FUNCATTN_MESH"])
predicted = simple.NeuralOperator(
    registrationName="NeuralOperator", Input=mesh, OperatorFile=os.environ["FUNCATTN_OPERATOR"]
)
curve = simple.WarpByScalar(
    registrationName="WarpByScalar",
    Input=predicted,
    Scalars=["POINTS", "y_predicted"],
    Normal=[0, 1, 0],
)
view = simple.GetActiveViewOrCreate("RenderView")
display = simple.Show(curve, view)
simple.ColorBy(display, ("POINTS", "y_predicted"))
display.LineWidth = 4
display.SetScalarBarVisibility(view, True)
known = simple.WarpByScalar(
    registrationName="KnownPoints", Input=mesh, Scalars=["POINTS", "y_context"], Normal=[0, 1, 0]
)
balls = simple.Glyph(registrationName="Glyph", Input=known, GlyphType="Sphere", GlyphMode="All Points")
balls.ScaleArray = ["POINTS", "context"]
balls.ScaleFactor = 0.3
simple.Show(balls, view).ColorArrayName = ["POINTS", ""]
simple.ResetCamera(view)
simple.Render(view)
simple.SetActiveSource(predicted)
open(os.environ["FUNCATTN_READY"], "w").close()
