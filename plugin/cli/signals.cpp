#include "plugin/cli/signals.h"

#include <signal.h>
#include <unistd.h>

#include "core/temporary_paths.h"

namespace funcattn {

namespace {

volatile pid_t program = 0;

extern "C" void remove_and_end(int number) {
  // A forked copy, such as a trial reading, shares the paths and owns none of them.
  if (::getpid() == program) remove_temporary_paths();
  ::signal(number, SIG_DFL);
  ::raise(number);
}

}  // namespace

void handle_signals() {
  program = ::getpid();
  for (const int number : {SIGPIPE, SIGXFSZ}) ::signal(number, SIG_IGN);
  struct sigaction action {};
  action.sa_handler = remove_and_end;
  // All at once, so that a second one cannot come in between.
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU})
    sigaddset(&action.sa_mask, number);
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU}) {
    struct sigaction before {};
    if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      ::sigaction(number, &action, nullptr);
  }
}

}  // namespace funcattn
