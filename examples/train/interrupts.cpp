#include "examples/train/interrupts.h"

#include <signal.h>

#include <array>
#include <atomic>

namespace funcattn {

namespace {

std::atomic<bool> interrupted{false};

// Ctrl-C; what batch systems, and mpiexec at Ctrl-C, send; what mpiexec hands on.
constexpr std::array<int, 3> interrupts = {SIGINT, SIGTERM, SIGUSR1};
std::array<struct sigaction, interrupts.size()> actions_before;

}  // namespace

InterruptScope::InterruptScope() {
  interrupted = false;
  struct sigaction action {};
  action.sa_handler = [](int number) {
    interrupted = true;
    for (std::size_t i = 0; i < interrupts.size(); ++i)
      if (interrupts[i] == number) ::sigaction(number, &actions_before[i], nullptr);
  };
  for (std::size_t i = 0; i < interrupts.size(); ++i) {
    ::sigaction(interrupts[i], nullptr, &actions_before[i]);
    if (actions_before[i].sa_handler != SIG_IGN) ::sigaction(interrupts[i], &action, nullptr);
  }
}

InterruptScope::~InterruptScope() {
  for (std::size_t i = 0; i < interrupts.size(); ++i)
    ::sigaction(interrupts[i], &actions_before[i], nullptr);
}

bool was_interrupted() {
  return interrupted;
}

}  // namespace funcattn
