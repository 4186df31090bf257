#pragma once

#include <stdexcept>
#include <string>

namespace funcattn {

/// Root of everything the library throws on purpose. A message says what is wrong, where (file,
/// block, array), what was found, what was expected and what to do about it, in one line.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller asked for something contradictory or unknown: options, sizes, names. The command
/// exits with status 2 for these and with status 1 for the others.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A file is missing, unreadable, damaged, or cannot be written.
class FileError : public Error {
 public:
  using Error::Error;
};

/// A sample was read but does not hold what is needed: absent or ambiguous array, wrong component
/// count, NaN, no points.
class DataError : public Error {
 public:
  using Error::Error;
};

/// An operator file or an imported weight file is damaged, of another version, or does not fit.
class OperatorFileError : public FileError {
 public:
  using FileError::FileError;
};

/// A computation produced a non-finite or meaningless number.
class NumericError : public Error {
 public:
  using Error::Error;
};

/// The caller asked a run to end before it was done (core/progress.h). Nothing has changed.
class Cancelled : public Error {
 public:
  using Error::Error;
};

}  // namespace funcattn
