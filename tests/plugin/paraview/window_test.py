"""Run by window_test.sh in ParaView's window: what its plugin manager knows, and one run."""

import os

import support
from paraview import servermanager, simple


def report():
    support.load_plugin()
    manager = servermanager.vtkSMProxyManager.GetProxyManager().GetPluginManager()
    plugins = manager.GetLocalInformation()
    loaded = [
        plugins.GetPluginName(i)
        for i in range(plugins.GetNumberOfPlugins())
        if plugins.GetPluginLoaded(i)
    ]
    grid = simple.OpenDataFile(str(support.FIXTURES / "grid.vtu"))
    result = support.neural_operator(grid)
    simple.Show(result, simple.GetActiveViewOrCreate("RenderView"))
    simple.Render()
    values = support.values(servermanager.Fetch(result), "pressure_predicted")
    return f"plugin loaded: {'NeuralOperator' in loaded}\nvalues: {len(values)}\n"


try:
    text = report()
except Exception as error:
    text = f"failed: {error!r}\n"
part = os.environ["FUNCATTN_REPORT"] + ".part"
with open(part, "w") as file:
    file.write(text)
os.rename(part, os.environ["FUNCATTN_REPORT"])
