#include "core/process_group.h"

#include <chrono>
#include <cstring>
#include <new>

#include "core/error.h"
#include "core/memory_error.h"

namespace funcattn {

namespace {

/// An error as it travels: a letter for its kind, then its message.
template <class Kind>
bool describe_as(const std::exception& error, char letter, std::string& text) {
  if (!text.empty() || dynamic_cast<const Kind*>(&error) == nullptr) return false;
  text = letter + std::string(error.what());
  return true;
}

std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    std::string text;
    describe_as<UsageError>(error, 'u', text);
    describe_as<Cancelled>(error, 'c', text);
    describe_as<MemoryError>(error, 'm', text);
    describe_as<std::bad_alloc>(error, 'a', text);
    describe_as<DataError>(error, 'd', text);
    describe_as<OperatorFileError>(error, 'o', text);
    describe_as<FileError>(error, 'f', text);
    describe_as<NumericError>(error, 'n', text);
    if (!text.empty()) return text;
    // What LibTorch adds to the first line tells people nothing.
    const std::string what = error.what();
    return "e" + (dynamic_cast<const Error*>(&error) ? what : what.substr(0, what.find('\n')));
  } catch (...) {
    return "ethe process failed for an unknown reason";
  }
}

[[noreturn]] void throw_text(const std::string& text) {
  const std::string message = text.substr(text.empty() ? 0 : 1);
  switch (text.empty() ? 'e' : text.front()) {
    case 'u':
      throw UsageError(message);
    case 'c':
      throw Cancelled(message);
    case 'm':
      throw MemoryError(message);
    case 'a':
      throw MemoryError("another process has not enough memory");
    case 'd':
      throw DataError(message);
    case 'o':
      throw OperatorFileError(message);
    case 'f':
      throw FileError(message);
    case 'n':
      throw NumericError(message);
    default:
      throw Error(message);
  }
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::size_t bytes_of(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  return bytes;
}

}  // namespace

double largest_of_all(ProcessGroup* processes, double value) {
  if (processes) processes->maximum(&value, 1);
  return value;
}

double total_of_all(ProcessGroup* processes, double value) {
  if (processes) processes->sum(&value, 1);
  return value;
}

std::int64_t total_of_all(ProcessGroup* processes, std::int64_t value) {
  if (processes) processes->sum(&value, 1);
  return value;
}

bool any_of_all(ProcessGroup* processes, bool value) {
  return largest_of_all(processes, value ? 1 : 0) > 0;
}

std::string packed_texts(const std::vector<std::string>& texts) {
  std::string packed;
  for (const std::string& text : texts) {
    const std::uint64_t size = text.size();
    packed.append(reinterpret_cast<const char*>(&size), sizeof size);
    packed += text;
  }
  return packed;
}

std::vector<std::string> unpacked_texts(const std::string& packed) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < packed.size();) {
    std::uint64_t size = 0;
    std::memcpy(&size, packed.data() + at, sizeof size);
    texts.push_back(packed.substr(at + sizeof size, size));
    at += sizeof size + size;
  }
  return texts;
}

void ProcessGroup::agree() {
  if (size() == 1) return;
  const auto start = std::chrono::steady_clock::now();
  double failed = 0;  // The size less the first rank that failed.
  maximum_all(&failed, 1);
  traffic_.waiting += seconds_since(start);
  if (failed > 0) throw_failure_of(size() - static_cast<int>(failed));
  has_failed_ = false;  // All go on.
}

void ProcessGroup::throw_failure_of(int failed) {
  has_failed_ = true;
  throw_text(gather_all("").at(static_cast<std::size_t>(failed)));
}

void ProcessGroup::fail(const std::exception_ptr& error) {
  if (has_failed_ || size() == 1) std::rethrow_exception(error);
  has_failed_ = true;
  int first = rank();
  std::string text;
  try {
    double failed = size() - rank();
    maximum_all(&failed, 1);
    first = size() - static_cast<int>(failed);
    text = gather_all(text_of(error)).at(static_cast<std::size_t>(first));
  } catch (...) {
    // The connection itself is gone; the error at hand says more.
    first = rank();
  }
  if (first != rank()) throw_text(text);
  std::rethrow_exception(error);
}

template <class Move>
auto ProcessGroup::timed(std::size_t bytes, const Move& move) {
  agree();
  const auto start = std::chrono::steady_clock::now();
  ++traffic_.exchanges;
  traffic_.bytes += static_cast<std::int64_t>(bytes);
  if constexpr (std::is_void_v<decltype(move())>) {
    move();
    traffic_.moving += seconds_since(start);
  } else {
    auto result = move();
    traffic_.moving += seconds_since(start);
    return result;
  }
}

void ProcessGroup::sum(double* values, std::size_t count) {
  timed(count * sizeof *values, [&] { sum_all(values, count); });
}

void ProcessGroup::sum(std::int64_t* values, std::size_t count) {
  timed(count * sizeof *values, [&] { sum_all(values, count); });
}

void ProcessGroup::maximum(double* values, std::size_t count) {
  timed(count * sizeof *values, [&] { maximum_all(values, count); });
}

std::vector<std::string> ProcessGroup::gather(const std::string& mine) {
  return timed(mine.size(), [&] { return gather_all(mine); });
}

std::vector<std::string> ProcessGroup::exchange(const std::vector<std::string>& to_each) {
  return timed(bytes_of(to_each), [&] { return exchange_all(to_each); });
}

void ProcessGroup::wait() {
  agree();
}

}  // namespace funcattn
