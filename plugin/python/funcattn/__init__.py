"""Functional Attention operators as a stage in mesh pipelines.

    import funcattn

    predicted = funcattn.run(mesh, "operator.safetensors")

`mesh` is any VTK data set or tree of them, a PyVista object, or a NumPy array of points; the result
is of the same kind. `funcattn.Operator` loads a file once for many runs, and
`funcattn.vtkNeuralOperator` is the filter for VTK pipelines. docs/python.md has examples.
"""

from . import _build, _libraries

_libraries.check_libtorch()
_libraries.check_vtk()

from .vtkFunctionalAttention import vtkNeuralOperator  # noqa: E402

_libraries.watch_torch()

from ._errors import (Cancelled, DataError, Error, FileError, NumericError,  # noqa: E402
                      OperatorFileError, OperatorWarning, OutOfMemory, UsageError)
from ._running import Operator, RunOptions, run  # noqa: E402

__version__ = _build.VERSION

__all__ = [
    "Cancelled",
    "DataError",
    "Error",
    "FileError",
    "NumericError",
    "Operator",
    "OperatorFileError",
    "OperatorWarning",
    "OutOfMemory",
    "RunOptions",
    "UsageError",
    "run",
    "vtkNeuralOperator",
]
