"""The options of a run: their names, types, and how they reach the filter."""

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypedDict, Union

from ._errors import UsageError

Path = Union[str, "os.PathLike[str]"]


class RunOptions(TypedDict, total=False):
    """Keywords of `run()` and `Operator.run()` beside the data.

    suffix: Appended to the names of the predicted arrays; "_predicted" unless given. For NumPy data
        the results are named without it.
    overwrite: Replace arrays that have a predicted name, instead of refusing the data.
    outputs: Names in the contract of the outputs to hand back; all of them unless given.
    parameters: Values of the operator's parameters by name, a number or one per component. They
        count more than the field data of a mesh, where the others must stand.
    device: What computes: "cpu" (the default), "cuda", "cuda:N", or "auto": a GPU where there is
        one.
    add_basis: Add the basis functions of the operator's blocks as arrays (docs/inspect.md).
    add_transport: Add the transport matrices as field data (docs/inspect.md).
    inspect_blocks: Blocks, from 1, that `add_basis` and `add_transport` are about; all unless
        given.
    nan: What to do about points with NaN or Inf in coordinates or inputs: refuse the data (the
        default), give them NaN, or remove them from the result as well.
    per_block: Every leaf of a tree is a sample of its own; otherwise they are one sample together.
    interpolate_inputs: Inputs that the query mesh lacks are interpolated from the data.
    convert_association: Average point arrays where the operator needs cell arrays, or the reverse.
    threads: Threads to compute with; 0: the cores that this process may use.
    memory: Where the features of the points wait between blocks of the network; changes no result.
    spill_folder: Folder for the temporary file of memory="spilled".
    tile_points: Points that are worked on together; 0 chooses. Changes no result.
    """

    suffix: str
    overwrite: bool
    outputs: Sequence[str]
    parameters: Mapping[str, Union[float, Sequence[float]]]
    device: str
    add_basis: bool
    add_transport: bool
    inspect_blocks: Sequence[int]
    nan: Literal["error", "mask", "drop"]
    per_block: bool
    interpolate_inputs: bool
    convert_association: bool
    threads: int
    memory: Literal["resident", "spilled", "recomputed"]
    spill_folder: Path
    tile_points: int


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


class _Calls(list):
    """Arguments of the calls of a method that adds one entry at a time."""


def _sequence(value, what):
    # An array of NumPy is none of collections.abc, and a text is one of its letters.
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__iter__"):
        raise TypeError(what)
    return list(value)


def _names(value):
    names = _sequence(value, "a list of names")
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError("a list of names, of one at least")
    return _Calls((name,) for name in names)


def _blocks(value):
    blocks = _sequence(value, "a list of block numbers")
    if not blocks:
        raise TypeError("a list of block numbers, of one at least")
    return _Calls((_count(block),) for block in blocks)


def _numbers(value):
    values = list(value) if hasattr(value, "__iter__") else [value]
    for number in values:
        if isinstance(number, (bool, str)) or not hasattr(number, "__float__"):
            raise TypeError("numbers")
    return [float(number) for number in values]


def _parameters(value):
    if not isinstance(value, Mapping):
        raise TypeError("a dictionary from names to numbers")
    calls = _Calls()
    for name, given in value.items():
        try:
            numbers = _numbers(given)
        except TypeError:
            raise TypeError("a dictionary from names to a number or a list of numbers") from None
        calls.append((_text(name), len(numbers), numbers))
    return calls


_SETTERS = {
    "suffix": ("SetSuffix", _text),
    "overwrite": ("SetOverwrite", _flag),
    "outputs": ("AddOutputArray", _names),
    "parameters": ("SetParameter", _parameters),
    "device": ("SetDevice", _text),
    "add_basis": ("SetAddBasis", _flag),
    "add_transport": ("SetAddTransport", _flag),
    "inspect_blocks": ("AddInspectedBlock", _blocks),
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
        for arguments in converted if isinstance(converted, _Calls) else [(converted,)]:
            getattr(algorithm, setter)(*arguments)
