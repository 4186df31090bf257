"""ParaView as a front end, in pvpython: prints what the filter of the plugin makes of a mesh that
ParaView reads.

usage: run_by_paraview.py PLUGIN OPERATOR MESH
"""

import sys

from paraview import servermanager, simple

from prediction_text import print_prediction

plugin, operator, mesh = sys.argv[1:]
simple.LoadPlugin(plugin, remote=False, ns=globals())
print_prediction(servermanager.Fetch(
    NeuralOperator(Input=simple.OpenDataFile(mesh), OperatorFile=operator, Threads=1)))  # noqa: F821
