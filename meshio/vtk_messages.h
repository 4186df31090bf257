#pragma once

#include <vtkCommand.h>
#include <vtkSmartPointer.h>

#include <string>
#include <vector>

namespace funcattn {

/// Collects what VTK reports while it lives, instead of letting it reach the terminal: error and
/// warning events of observed objects, and, for objects that cannot be observed (parsers,
/// compressors, VTK's static functions), the text that this thread sends to VTK's output window.
///
/// VTK drops error events altogether where a host has switched its warning display off, so the
/// display is on meanwhile, and VTK's log keeps from standard error all but fatal messages; these,
/// and the output window, are as before once the last collector is gone. Text of other threads goes
/// where the host wants it. Generic warnings count as errors.
class VtkMessages {
 public:
  VtkMessages();
  ~VtkMessages();
  VtkMessages(const VtkMessages&) = delete;
  VtkMessages& operator=(const VtkMessages&) = delete;

  /// For objects that pass an observer on to what they create.
  vtkCommand* observer() const { return observer_; }
  void observe(vtkObject* object) const;  ///< An algorithm's executive as well.

  void add_error(const std::string& text);  ///< Keeps the message without VTK's source position.
  bool has_errors() const { return !errors_.empty(); }
  /// The first error, in one line; empty if there was none.
  std::string first_error() const { return errors_.empty() ? std::string() : errors_.front(); }

 private:
  std::vector<std::string> errors_;
  vtkSmartPointer<vtkCommand> observer_;
  VtkMessages* outer_ = nullptr;
};

}  // namespace funcattn
