#pragma once

namespace funcattn {

/// While it lives, Ctrl-C and the signals by which batch systems and mpiexec end programs are noted
/// only, so that training can end after its current step with its state saved; a second signal of a
/// kind ends the process at once. One at a time.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
};

/// Whether such a signal has come since the last scope began.
bool was_interrupted();

}  // namespace funcattn
