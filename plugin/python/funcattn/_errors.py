"""What this package raises and warns."""


class Error(Exception):
    """Root of everything that this package raises on purpose; the text says what is wrong, where,
    what was expected and what to do."""


class UsageError(Error, ValueError):
    """Something contradictory or unknown was asked for: options, sizes, names."""


class FileError(Error):
    """A file is missing, unreadable, damaged, or cannot be written."""


class OperatorFileError(FileError):
    """An operator file is damaged, of another version, or does not fit."""


class DataError(Error, ValueError):
    """The data do not hold what the operator needs: absent arrays, wrong components, NaN."""


class NumericError(Error, ArithmeticError):
    """A computation produced a non-finite or meaningless number."""


class OutOfMemory(Error, MemoryError):
    """There is not enough memory for the data."""


class Cancelled(Error):
    """The progress function asked for an end."""


class OperatorWarning(UserWarning):
    """Something remarkable about a result: data outside the training range and such."""


BY_KIND = {
    "usage": UsageError,
    "file": FileError,
    "operator_file": OperatorFileError,
    "data": DataError,
    "numeric": NumericError,
    "memory": OutOfMemory,
    "cancelled": Cancelled,
}
"""The classes by what vtkNeuralOperator.GetLastErrorKind() says."""
