#include "plugin/cli/signals.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <vector>

#include "core/atomic_file.h"
#include "core/error.h"
#include "meshio/piece_folder.h"
#include "tests/plugin/support.h"

namespace funcattn {
namespace {

/// Status of a forked copy of this program that did `action`; exit status 0 if that returned.
int status_after(const std::function<void()>& action) {
  const pid_t copy = ::fork();
  if (copy == 0) {
    try {
      action();
    } catch (...) {
      ::_exit(99);
    }
    ::_exit(0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(copy, &status, 0), copy);
  return status;
}

class SignalsTest : public ::testing::Test {
 protected:
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      names.push_back(entry.path().filename().string());
    return names;
  }

  test::TemporaryFolder folder_;
};

class EndingSignalsTest : public SignalsTest, public ::testing::WithParamInterface<int> {};

using Names = std::vector<std::string>;

TEST_P(EndingSignalsTest, TheEndLeavesNoTemporaryFile) {
  folder_.write("a.vtu", "old");
  const int status = status_after([&] {
    handle_signals();
    AtomicFile file(folder_ / "a.vtu");
    file.write("half");
    PieceFolder pieces(folder_ / "b.vtm");
    write_file_atomically(pieces.piece(0, ".vtu"), "whole");
    AtomicFile piece(pieces.piece(1, ".vtu"));
    // More paths than one block of notes holds.
    std::vector<std::unique_ptr<AtomicFile>> more;
    for (int i = 0; i < 150; ++i)
      more.push_back(std::make_unique<AtomicFile>(folder_ / std::to_string(i)));
    ::raise(GetParam());
  });
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), GetParam());
  EXPECT_EQ(entries(), Names{"a.vtu"});
  EXPECT_EQ(read_file(folder_ / "a.vtu"), "old");
}

TEST_P(EndingSignalsTest, WhatIsCompleteStays) {
  const int status = status_after([&] {
    handle_signals();
    write_file_atomically(folder_ / "a.vtu", "new");
    PieceFolder pieces(folder_ / "b.vtm");
    write_file_atomically(pieces.piece(0, ".vtu"), "piece");
    pieces.commit("index");
    ::raise(GetParam());
  });
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(read_file(folder_ / "a.vtu"), "new");
  EXPECT_EQ(read_file(folder_ / "b.vtm"), "index");
  EXPECT_EQ(read_file(folder_ / "b" / "b_0.vtu"), "piece");
}

TEST_P(EndingSignalsTest, AForkedCopyRemovesNothing) {
  const int status = status_after([&] {
    handle_signals();
    AtomicFile file(folder_ / "a.vtu");
    file.write("whole");
    const int copy = status_after([&] { ::raise(GetParam()); });
    if (!WIFSIGNALED(copy)) ::_exit(1);
    file.commit();
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(entries(), Names{"a.vtu"});
}

TEST_P(EndingSignalsTest, IgnoredStaysIgnored) {
  const int status = status_after([&] {
    ::signal(GetParam(), SIG_IGN);
    handle_signals();
    ::raise(GetParam());
  });
  EXPECT_EQ(status, 0);
}

INSTANTIATE_TEST_SUITE_P(Each, EndingSignalsTest,
                         ::testing::Values(SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU),
                         [](const auto& entry) {
                           return std::string(::sigabbrev_np(entry.param));
                         });

TEST_F(SignalsTest, AFileBeyondTheLimitIsAnError) {
  const int status = status_after([&] {
    handle_signals();
    const rlimit limit{10, 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_file_atomically(folder_ / "a", "more than ten bytes");
    } catch (const FileError& error) {
      ::_exit(std::string(error.what()).find("File too large") != std::string::npos ? 7 : 8);
    }
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(entries(), Names{});
}

}  // namespace
}  // namespace funcattn
