"""The options of a run: their names, types, and how they reach the filter."""

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypedDict, Union

from ._errors import UsageError

Path = Union[str, "os.PathLike[str]"]


class RunOptions(TypedDict, total=False):
    """Keywords of `run()` and `Operator.run()` beside the data."""

    suffix: str
    """Appended to the names of the predicted arrays; "_predicted" unless given. For NumPy data the
    results are named without it."""
    overwrite: bool
    """Replace arrays that have a predicted name, instead of refusing the data."""
    nan: Literal["error", "mask", "drop"]
    """What to do about points with NaN or Inf in coordinates or inputs: refuse the data (the
    default), give them NaN, or remove them from the result as well."""
    per_block: bool
    """Every leaf of a tree is a sample of its own; otherwise they are one sample together."""
    interpolate_inputs: bool
    """Inputs that the query mesh lacks are interpolated from the data."""
    convert_association: bool
    """Average point arrays where the operator needs cell arrays, or the reverse."""
    threads: int
    """Threads to compute with; 0: the cores that this process may use."""
    memory: Literal["resident", "spilled", "recomputed"]
    """Where the features of the points wait between blocks of the network; changes no result."""
    spill_folder: Path
    """Folder for the temporary file of memory="spilled"."""
    tile_points: int
    """Points that are worked on together; 0 chooses. Changes no result."""


def _flag(value):
    if not isinstance(value, bool):
        raise TypeError("True or False")
    return value


def _count(value):
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < 0:
        raise TypeError("a whole number from 0")
    return value.__index__()


def _text(value):
    if not isinstance(value, str):
        raise TypeError("a text")
    return value


def _path(value):
    return os.fspath(value)


def _one_of(*names):
    def index(value):
        if value not in names:
            raise TypeError("one of " + ", ".join(f'"{name}"' for name in names))
        return names.index(value)

    return index


_SETTERS = {
    "suffix": ("SetSuffix", _text),
    "overwrite": ("SetOverwrite", _flag),
    "nan": ("SetNanPolicy", _one_of("error", "mask", "drop")),
    "per_block": ("SetPerBlock", _flag),
    "interpolate_inputs": ("SetInterpolateInputs", _flag),
    "convert_association": ("SetConvertAssociation", _flag),
    "threads": ("SetThreads", _count),
    "memory": ("SetActivationMemory", _one_of("resident", "spilled", "recomputed")),
    "spill_folder": ("SetSpillFolder", _path),
    "tile_points": ("SetTilePoints", _count),
}


def did_you_mean(name, known):
    """", did you mean 'x'?" where something known is near, and what is known."""
    near = difflib.get_close_matches(str(name), list(known), n=1)
    return (f"; did you mean '{near[0]}'?" if near else "") + \
        f" (known: {', '.join(known) if known else 'none'})"


def apply_options(algorithm, options):
    """Sets the properties of a vtkNeuralOperator. Raises UsageError for unknown names and values of
    the wrong type."""
    for name, value in options.items():
        if name not in _SETTERS:
            raise UsageError(f"there is no option '{name}'" + did_you_mean(name, _SETTERS))
        setter, convert = _SETTERS[name]
        try:
            converted = convert(value)
        except TypeError as error:
            raise UsageError(f"option '{name}' is {value!r}, expected {error}") from None
        getattr(algorithm, setter)(converted)
