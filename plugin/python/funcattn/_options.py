"""The options of a run: their names, types, and how they reach the filter."""

import difflib
import operator
import os
from collections.abc import Mapping, Sequence, Set
from typing import Literal, TypedDict, Union

import numpy as np

from ._errors import UsageError

Path = Union[str, "os.PathLike[str]"]


class RunOptions(TypedDict, total=False):
    """Keywords of `run()` and `Operator.run()` beside the data.

    suffix: Appended to the names of the predicted arrays; "_predicted" unless given. Not for NumPy
        results, which are named as in the contract.
    overwrite: Replace arrays that have a predicted name, instead of refusing the data. Not for NumPy
        results.
    probabilities: Of predicted classes, also hand back the share of each class, as an array
        NAME_probability with one component per class.
    outputs: Names in the contract of the outputs to hand back; all of them unless given.
    parameters: Values of the operator's parameters by name, a number or one per component. They
        count more than the field data of a mesh, where the others must stand.
    device: What computes: "cpu" (the default), "cuda", "cuda:N", or "auto": a GPU where there is
        one, else the CPU with an `OperatorWarning`.
    add_basis: Add the basis functions of the operator's blocks as arrays (docs/inspect.md).
    add_transport: Add the transport matrices as field data (docs/inspect.md).
    inspect_blocks: Blocks, from 1, that `add_basis` and `add_transport` are about, one of which must
        be on; all unless given.
    nan: What to do about points with NaN or Inf in coordinates or inputs: refuse the data (the
        default), give them NaN, or remove them from the result as well.
    per_block: Every leaf of a tree is a sample of its own; otherwise they are one sample together.
    interpolate_inputs: Inputs that the query lacks are interpolated from the data.
    convert_association: Average point arrays where the operator needs cell arrays, or the reverse.
    threads: Threads to compute with; 0: the cores that this process may use.
    memory: Where the features of the points wait between blocks of the network; changes no result,
        and nothing on a GPU.
    spill_folder: Folder for the temporary file of memory="spilled".
    tile_points: Points that are worked on together; 0 chooses. Changes no result, and nothing on a
        GPU.
    """

    suffix: str
    overwrite: bool
    probabilities: bool
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


# A whole number of C; of the threads the stage says how many are too many.
_MOST = 2**31 - 1


def _flag(value):
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError("True or False")
    return bool(value)


def _whole(value, least):
    expected = f"a whole number from {least} to {_MOST}"
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(expected)
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(expected) from None
    if not least <= number <= _MOST:
        raise TypeError(expected)
    return number


def _count(value):
    return _whole(value, 0)


def text_of(value):
    """A text that C can take. Raises TypeError that says what is expected."""
    if not isinstance(value, str) or not _is_text_of_c(value):
        raise TypeError("a text without NUL and lone surrogates")
    return value


def _is_text_of_c(value):
    return "\0" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value)


def path_of(value):
    """The path as a text. Raises TypeError that says what is expected."""
    try:
        path = os.fsdecode(value)
        os.fsencode(path)
    except (TypeError, UnicodeError):
        path = "\0"
    if "\0" in path:
        raise TypeError("a path without NUL")
    return path


def _path_for_c(value):
    return os.fsencode(path_of(value))  # VTK itself would encode no other name than one in UTF-8.


def _one_of(*names):
    def index(value):
        if not isinstance(value, str) or value not in names:
            raise TypeError("one of " + ", ".join(f'"{name}"' for name in names))
        return names.index(value)

    return index


class _Calls(list):
    """Arguments of the calls of a method that adds one entry at a time."""


def _has_entries(value):
    # An array without dimensions has the method, but no entries.
    return hasattr(value, "__iter__") and getattr(value, "ndim", 1) != 0


def _sequence(value, what):
    # An array of NumPy is none of collections.abc, and a text is one of its letters.
    if isinstance(value, (str, bytes, Mapping)) or not _has_entries(value):
        raise TypeError(what)
    return list(value)


def _names(value):
    names = _sequence(value, "a list of names")
    if not names or not all(isinstance(name, str) and _is_text_of_c(name) for name in names):
        raise TypeError("a list of names, of one at least")
    return _Calls((name,) for name in names)


def _blocks(value):
    expected = "a list of block numbers, from 1, of one at least"
    blocks = _sequence(value, expected)
    try:
        numbers = [_whole(block, 1) for block in blocks]
    except TypeError:
        numbers = []
    if not numbers:
        raise TypeError(expected)
    return _Calls((number,) for number in numbers)


def _number(value):
    if isinstance(value, (bool, np.bool_, str, complex)) or np.ma.is_masked(value) or \
            _has_entries(value) or not hasattr(value, "__float__"):
        raise TypeError("a number")
    try:
        return float(value)
    except (OverflowError, ValueError):
        raise TypeError("a number") from None


def _numbers(value):
    if isinstance(value, (Mapping, Set, str, bytes)):
        raise TypeError("numbers")
    return [_number(number) for number in (value if _has_entries(value) else [value])]


def _parameters(value):
    if not isinstance(value, Mapping):
        raise TypeError("a dictionary from names to numbers")
    calls = _Calls()
    for name, given in value.items():
        try:
            numbers = _numbers(given)
            calls.append((text_of(name), len(numbers), numbers))
        except TypeError:
            raise TypeError("a dictionary from names to a number or a list of numbers, of the range "
                            "of float") from None
    return calls


_SETTERS = {
    "suffix": ("SetSuffix", text_of),
    "overwrite": ("SetOverwrite", _flag),
    "probabilities": ("SetProbabilities", _flag),
    "outputs": ("AddOutputArray", _names),
    "parameters": ("SetParameter", _parameters),
    "device": ("SetDevice", text_of),
    "add_basis": ("SetAddBasis", _flag),
    "add_transport": ("SetAddTransport", _flag),
    "inspect_blocks": ("AddInspectedBlock", _blocks),
    "nan": ("SetNanPolicy", _one_of("error", "mask", "drop")),
    "per_block": ("SetPerBlock", _flag),
    "interpolate_inputs": ("SetInterpolateInputs", _flag),
    "convert_association": ("SetConvertAssociation", _flag),
    "threads": ("SetThreads", _count),
    "memory": ("SetActivationMemory", _one_of("resident", "spilled", "recomputed")),
    "spill_folder": ("SetSpillFolder", _path_for_c),
    "tile_points": ("SetTilePoints", _count),
}


def did_you_mean(name, known):
    """", did you mean 'x'?" where something known is near, and what is known."""
    near = difflib.get_close_matches(str(name), list(known), n=1)
    return (f"; did you mean '{near[0]}'?" if near else "") + \
        f" (known: {', '.join(known) if known else 'none'})"


def _checked(name, value, convert):
    try:
        return convert(value)
    except TypeError as error:
        raise UsageError(f"option '{name}' is {_shown(value)}, expected {error}") from None


def _shown(value):
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def _check_effects(options, has_query, to_numpy):
    """Raises UsageError for options that can change nothing beside the others."""
    def refuse(names, why):
        for name in names:
            if name in options and options[name] is not False:
                raise UsageError(f"option '{name}' has no effect {why}; leave it away")

    if not (options.get("add_basis") or options.get("add_transport")):
        refuse(["inspect_blocks"], "without 'add_basis' or 'add_transport'")
    if options.get("memory") != "spilled":
        refuse(["spill_folder"], "without memory='spilled'")
    if not has_query:
        refuse(["interpolate_inputs"], "without a query")
    if to_numpy:
        refuse(["suffix", "overwrite"], "on NumPy results, which are named as in the contract")


def apply_options(algorithm, options, has_query=False, to_numpy=False):
    """Sets the properties of a vtkNeuralOperator. Raises UsageError for unknown names, values of the
    wrong type, and options that can have no effect."""
    for name, value in options.items():
        if name not in _SETTERS:
            raise UsageError(f"there is no option '{name}'" + did_you_mean(name, _SETTERS))
        setter, convert = _SETTERS[name]
        converted = _checked(name, value, convert)
        for arguments in converted if isinstance(converted, _Calls) else [(converted,)]:
            getattr(algorithm, setter)(*arguments)
    _check_effects(options, has_query, to_numpy)
