"""Runs of an operator on VTK, PyVista and NumPy data."""

import hashlib
import json
import os
import signal
import sys
import threading
import warnings as python_warnings
from collections.abc import Callable, Mapping
from typing import Any, Optional, TypeVar, Union, overload

import numpy as np
import numpy.typing as npt
from vtkmodules.vtkCommonDataModel import vtkCompositeDataSet, vtkDataSet

from . import _conversion
from ._errors import (BY_KIND, Cancelled, DataError, Error, FileError, OperatorFileError,
                      OperatorWarning, UsageError)
from ._options import Path, RunOptions, apply_options, path_of, text_of
from .vtkFunctionalAttention import vtkNeuralOperator

if sys.version_info >= (3, 11):
    from typing import Unpack
else:
    from typing_extensions import Unpack

VtkData = TypeVar("VtkData", vtkDataSet, vtkCompositeDataSet)
Fields = Mapping[str, npt.ArrayLike]
Arrays = dict[str, npt.NDArray[np.float64]]
Progress = Callable[[float], Any]


class _Messages:
    """Texts of the events of VTK objects, which then do not reach the terminal."""

    def __init__(self, *objects):
        self.texts = []
        for vtk_object in objects:
            for event in ("ErrorEvent", "WarningEvent"):
                vtk_object.AddObserver(event, self._add)

    def _add(self, caller, event, text=""):
        self.texts.append(text)

    _add.CallDataType = "string0"


class _Watch:
    """Tells a function how far a filter is while the `with` lasts, and lets it and Ctrl-C end the run.

    An exception in an observer would be printed by VTK, which then goes on or, for Ctrl-C, ends the
    process; it is kept until the run has ended. The handler of Ctrl-C is called between two parts of
    the work, which ends if it raises and goes on if it returns, as Python's own calls do (PEP 475).
    """

    def __init__(self, algorithm, function):
        self._algorithm = algorithm
        self._function = function
        self._exception = None
        self._interrupts = []
        self._handler = None

    def __enter__(self):
        self._tag = self._algorithm.AddObserver("ProgressEvent", self._tell)
        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self._handler = handler
                interrupts = self._interrupts
                self._remember = lambda *interrupt: interrupts.append(interrupt)
                signal.signal(signal.SIGINT, self._remember)
        return self

    def __exit__(self, *_):
        # The handler may have set another.
        if self._handler is not None and signal.getsignal(signal.SIGINT) is self._remember:
            signal.signal(signal.SIGINT, self._handler)
        self._algorithm.RemoveObserver(self._tag)  # Ends a cycle of references, too.
        if self._exception is not None:
            raise self._exception
        self._handle_interrupts()

    def _handle_interrupts(self):
        while self._interrupts:
            self._handler(*self._interrupts.pop(0))

    def _tell(self, caller, event):
        if self._exception is not None:
            return
        try:
            if self._function is not None:
                goes_on = self._function(self._algorithm.GetProgress())
                if isinstance(goes_on, (bool, np.bool_)) and not goes_on:
                    self._algorithm.SetAbortExecute(1)
            self._handle_interrupts()
        except BaseException as exception:
            self._exception = exception
            self._algorithm.SetAbortExecute(1)


def _raise_failure(algorithm, messages):
    kind = algorithm.GetLastErrorKind()
    text = algorithm.GetLastError() or " ".join(messages.texts) or "the filter did not execute"
    if isinstance(text, bytes):  # It names a file whose name is not UTF-8.
        text = os.fsdecode(text)
    raise BY_KIND.get(kind, Error)(text)


def _checksum(path):
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise FileError(f"'{path}': cannot be read: {error.strerror}") from None
    return digest.hexdigest()


def _unpickled(kind, path, checksum):
    if _checksum(path) != checksum:
        raise OperatorFileError(f"'{path}' is another file than the one of the pickled operator (their "
                                "SHA-256 differ); put that one back, or load this with Operator()")
    return kind(path)


class Operator:
    """A trained operator, loaded once for many runs.

    Runs may be made from several threads; VTK holds Python's lock meanwhile, so that they follow one
    another, each with as many threads of its own as it is given. Where the file on disk is replaced,
    the next run uses the new one. Pickled, it is the file's full path and checksum: the file is read
    again where it is unpickled, which raises OperatorFileError where another one is there.
    """

    def __init__(self, file: Path) -> None:
        """Reads and verifies an operator file. Raises UsageError, FileError, OperatorFileError."""
        try:
            self._file = path_of(file)
        except TypeError as expected:
            raise UsageError(f"the operator is {file!r}, expected {expected}") from None
        self._loaded = self._new_filter()  # Holds the operator, which all filters of the file share.
        messages = _Messages(self._loaded)
        if not self._loaded.LoadOperator():
            _raise_failure(self._loaded, messages)

    def __reduce__(self):
        path = os.path.abspath(self._file)
        return _unpickled, (type(self), path, _checksum(path))

    def __repr__(self) -> str:
        return f"funcattn.Operator({self._file!r})"

    @property
    def file(self) -> str:
        """Path of the operator file."""
        return self._file

    @property
    def contract(self) -> dict[str, Any]:
        """What the operator needs and gives: inputs, outputs, coordinates, normalisation, units and
        ranges, as recorded in the file (docs/operator_file.md)."""
        text = self._loaded.GetContract()
        if not text:
            self._loaded.LoadOperator()
            _raise_failure(self._loaded, _Messages())
        return json.loads(text)

    @overload
    def run(self, data: VtkData, *, weights: Optional[str] = None,
            progress: Optional[Progress] = None, **options: Unpack[RunOptions]) -> VtkData: ...

    @overload
    def run(self, data: npt.ArrayLike, *, fields: Optional[Fields] = None,
            weights: Union[str, npt.ArrayLike, None] = None, progress: Optional[Progress] = None,
            **options: Unpack[RunOptions]) -> Arrays: ...

    @overload
    def run(self, data: Any, *, fields: Optional[Fields] = None,
            weights: Union[str, npt.ArrayLike, None] = None, query: VtkData,
            progress: Optional[Progress] = None, **options: Unpack[RunOptions]) -> VtkData: ...

    @overload
    def run(self, data: Any, *, fields: Optional[Fields] = None,
            weights: Union[str, npt.ArrayLike, None] = None, query: npt.ArrayLike,
            query_fields: Optional[Fields] = None, progress: Optional[Progress] = None,
            **options: Unpack[RunOptions]) -> Arrays: ...

    def run(self, data: Any, *, fields: Optional[Fields] = None,
            weights: Union[str, npt.ArrayLike, None] = None, query: Any = None,
            query_fields: Optional[Fields] = None, progress: Optional[Progress] = None,
            **options: Unpack[RunOptions]) -> Any:
        """Predicts at the points (or cells) of `data`; see `funcattn.run`."""
        return self._run(data, fields, weights, query, query_fields, progress, options)

    def _run(self, data, fields, weights, query, query_fields, progress, options):
        if progress is not None and not callable(progress):
            raise UsageError(f"progress is {progress!r}, expected a function of the fraction that is done")
        contract = self.contract
        algorithm = self._new_filter()
        to_numpy = not _conversion.is_vtk_data(data if query is None else query)
        apply_options(algorithm, options, query is not None, to_numpy)
        source = self._as_vtk(data, fields, weights, contract, "points", "fields")
        algorithm.SetInputDataObject(0, source)
        target, target_is = source, data
        if query is not None:
            target_is = query
            target = self._as_vtk(query, query_fields, None, contract, "query", "query_fields")
            algorithm.SetInputDataObject(1, target)
        elif query_fields is not None:
            raise UsageError("query_fields are given without a query")
        if weights is not None:
            algorithm.SetWeights(self._weights_name(weights))
        if to_numpy and options.get("nan") == "drop":
            raise UsageError('nan="drop" would leave arrays whose rows belong to no known points; use '
                             'nan="mask"')

        messages = _Messages(algorithm, algorithm.GetExecutive())
        with _Watch(algorithm, progress):
            done = algorithm.GetExecutive().Update(0)
        if algorithm.GetLastErrorKind() == "cancelled":
            raise Cancelled("the run was cancelled by its progress function")
        if not done or algorithm.GetLastErrorKind():
            _raise_failure(algorithm, messages)
        for i in range(algorithm.GetNumberOfNotes()):
            python_warnings.warn(algorithm.GetNote(i), OperatorWarning, stacklevel=3)
        for i in range(algorithm.GetNumberOfWarnings()):
            python_warnings.warn(algorithm.GetWarning(i), OperatorWarning, stacklevel=3)
        result = algorithm.GetOutputDataObject(0)
        if to_numpy:
            return _conversion.result_to_numpy(result, target, contract, algorithm.GetSuffix())
        if _conversion.is_pyvista(target_is):
            import pyvista

            return pyvista.wrap(result)
        return result

    def _new_filter(self):
        algorithm = vtkNeuralOperator()
        algorithm.SetFileName(os.fsencode(self._file))
        return algorithm

    @staticmethod
    def _weights_name(weights):
        if not isinstance(weights, str):
            return "array:" + _conversion.WEIGHTS_NAME
        try:
            return text_of(weights)
        except TypeError as expected:
            raise UsageError(f"weights are {weights!r}, expected {expected}") from None

    @staticmethod
    def _as_vtk(data, fields, weights, contract, what, fields_what):
        if _conversion.is_vtk_data(data):
            if fields is not None:
                raise UsageError(f"{fields_what} belong to NumPy points; a {type(data).__name__} "
                                 "holds its arrays itself")
            if weights is not None and not isinstance(weights, str):
                raise UsageError("weights as an array belong to NumPy points; add them to the "
                                 'mesh and name them: weights="array:NAME"')
            return data
        if hasattr(data, "GetClassName"):
            raise DataError(f"the data are a {data.GetClassName()}, expected a vtkDataSet or a tree "
                            "of them; of an algorithm, give the output, or use vtkNeuralOperator")
        if not isinstance(data, (np.ndarray, list, tuple)):
            raise DataError(f"the data are a {type(data).__name__}, expected VTK or PyVista data or a "
                            "NumPy array of points")
        if fields is not None and not (hasattr(fields, "keys") and hasattr(fields, "__getitem__")):
            raise UsageError(f"{fields_what} are {fields!r}, expected a dictionary from names to arrays")
        return _conversion.points_to_vtk(data, dict(fields if fields is not None else {}),
                                         None if isinstance(weights, str) else weights, contract,
                                         what)


@overload
def run(data: VtkData, operator: Union[Path, Operator], *, weights: Optional[str] = None,
        progress: Optional[Progress] = None, **options: Unpack[RunOptions]) -> VtkData: ...


@overload
def run(data: npt.ArrayLike, operator: Union[Path, Operator], *, fields: Optional[Fields] = None,
        weights: Union[str, npt.ArrayLike, None] = None, progress: Optional[Progress] = None,
        **options: Unpack[RunOptions]) -> Arrays: ...


@overload
def run(data: Any, operator: Union[Path, Operator], *, fields: Optional[Fields] = None,
        weights: Union[str, npt.ArrayLike, None] = None, query: VtkData,
        progress: Optional[Progress] = None, **options: Unpack[RunOptions]) -> VtkData: ...


@overload
def run(data: Any, operator: Union[Path, Operator], *, fields: Optional[Fields] = None,
        weights: Union[str, npt.ArrayLike, None] = None, query: npt.ArrayLike,
        query_fields: Optional[Fields] = None, progress: Optional[Progress] = None,
        **options: Unpack[RunOptions]) -> Arrays: ...


def run(data: Any, operator: Union[Path, Operator], *, fields: Optional[Fields] = None,
        weights: Union[str, npt.ArrayLike, None] = None, query: Any = None,
        query_fields: Optional[Fields] = None, progress: Optional[Progress] = None,
        **options: Unpack[RunOptions]) -> Any:
    """Predicts fields at the points (or cells) of `data` with a trained operator.

    data:
        a vtkDataSet, a tree of them (vtkMultiBlockDataSet, vtkPartitionedDataSetCollection, ...), a
        PyVista object, or a NumPy array of points [n, D] with D from 1 to 3, the columns being x, y, z.
    operator:
        path of an operator file, or an `Operator`, which loads it once for many runs.
    fields:
        with NumPy points, the operator's inputs: {name: [n] or [n, components]}. What is masked in a
        masked array is NaN, here and in the points: `nan` says what becomes of it.
    weights:
        quadrature weights: "auto", "uniform", "measure", "density" or "array:NAME"; with NumPy
        points also an array [n]. Default: the choice that the operator was trained with.
    query:
        where the operator is to be evaluated instead of at `data`; of any of these kinds. With NumPy
        points, `query_fields` are its arrays, where the operator needs inputs there.
    progress:
        called with a fraction from 0 to 1, some hundred times at most; False ends the run with
        `Cancelled`, and an exception in it ends the run and is raised. So does one in the handler of
        Ctrl-C (KeyboardInterrupt); a handler that returns lets the run go on.
    options:
        see `RunOptions`.

    Returns the same kind as `data` (or `query`): VTK and PyVista data with the predicted arrays added,
    sharing the rest, and for NumPy points {output: [n] or [n, components]} in float64, with the arrays
    of `add_basis` and `add_transport` under their own names. The data are not modified.
    Raises subclasses of `Error`, and warns with `OperatorWarning`.
    """
    if not isinstance(operator, Operator):
        operator = Operator(operator)
    return operator._run(data, fields, weights, query, query_fields, progress, options)
