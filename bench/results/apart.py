"""Scripts with VTK in processes of their own.

It stays out of the caller, whose memory counts in that of the commands that it starts.
"""
import subprocess
import sys


def read(file):
    """The data set of an XML file; for such scripts alone."""
    import vtk
    reader = vtk.vtkXMLGenericDataObjectReader()
    reader.SetFileName(str(file))
    reader.Update()
    return reader.GetOutput()


def run(script, *arguments):
    """What the script prints."""
    return subprocess.run([sys.executable, script, *map(str, arguments)], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
