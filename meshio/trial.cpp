#include "meshio/trial.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <thread>

#include "core/error.h"

namespace funcattn {

namespace {

constexpr std::chrono::seconds kPatience{10};
constexpr std::uintmax_t kBytesPerSecond = 1'000'000;

std::chrono::seconds patience_for(const std::filesystem::path& folder) {
  std::uintmax_t bytes = 0;
  std::error_code failure;
  const std::filesystem::path top = folder.empty() ? std::filesystem::path(".") : folder;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           top, std::filesystem::directory_options::skip_permission_denied, failure)) {
    std::error_code ignored;
    if (entry.is_regular_file(ignored)) bytes += entry.file_size(ignored);
  }
  return kPatience + std::chrono::seconds(bytes / kBytesPerSecond);
}

[[noreturn]] void run_and_exit(const std::function<void()>& attempt) {
  // A host's handlers would report a crash that is none of its own.
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(number, SIG_DFL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) {
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
  }
  try {
    attempt();
  } catch (...) {
    // Refused: the real attempt will say why.
  }
  ::_exit(0);
}

}  // namespace

void require_to_survive(const std::filesystem::path& folder, const std::function<void()>& attempt) {
  const pid_t copy = ::fork();
  if (copy < 0) return;
  if (copy == 0) run_and_exit(attempt);

  const auto deadline = std::chrono::steady_clock::now() + patience_for(folder);
  auto pause = std::chrono::microseconds(200);
  int status = 0;
  for (;;) {
    const pid_t ended = ::waitpid(copy, &status, WNOHANG);
    if (ended == copy) break;
    if (ended < 0 && errno != EINTR) return;  // A host that collects all its children.
    if (std::chrono::steady_clock::now() > deadline) {
      ::kill(copy, SIGKILL);
      ::waitpid(copy, &status, 0);
      throw DataError(
          "VTK's reader does not come to an end; the file, or one that it names, is "
          "damaged");
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(20'000));
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw DataError("VTK's reader crashes on it; the file, or one that it names, is damaged");
}

}  // namespace funcattn
