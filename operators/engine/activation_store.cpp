#include "operators/engine/activation_store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "core/byte_size.h"
#include "core/error.h"
#include "operators/engine/panel_memory.h"

namespace funcattn {

namespace {

[[noreturn]] void throw_spill_failure(const std::string& what, const std::filesystem::path& folder,
                                      int error) {
  throw FileError(what + " in '" + folder.string() + "': " + std::strerror(error) +
                  "; choose another folder for temporary files");
}

std::filesystem::path spill_folder(const EngineOptions& options) {
  if (!options.spill_folder.empty()) return options.spill_folder;
  std::error_code failure;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(failure);
  if (!failure) return folder;
  const char* named = std::getenv("TMPDIR");
  throw_spill_failure("cannot create a temporary file", named ? named : "/tmp", failure.value());
}

/// Of a new file without a name.
int open_spill_file(const std::filesystem::path& folder) {
  std::string name = (folder / "funcattn-XXXXXX").string();
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) throw_spill_failure("cannot create a temporary file", folder, errno);
  ::unlink(name.c_str());
  return file;
}

/// Memory from the system: pages are zero and cost nothing before they are used, and it returns at
/// once when it is no longer needed.
template <class T>
class ResidentStore : public ActivationStore<T> {
 public:
  ResidentStore(std::size_t slots, std::size_t slot_size)
      : slot_size_(slot_size), bytes_(slots * slot_size * sizeof(T)) {
    if (bytes_ == 0) return;
    void* memory =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      throw PanelsTooLarge("the features of the points need " +
                           format_bytes(static_cast<double>(bytes_)) +
                           ", which this machine does not give");
    data_ = static_cast<T*>(memory);
    // Large pages: a fault for every 4 KiB would cost as much as a block of the network.
    ::madvise(memory, bytes_, MADV_HUGEPAGE);
  }
  ~ResidentStore() override {
    if (data_) ::munmap(data_, bytes_);
  }
  ResidentStore(const ResidentStore&) = delete;
  ResidentStore& operator=(const ResidentStore&) = delete;
  bool keeps() const override { return true; }
  T* open(int, std::size_t first, std::size_t, bool) override { return data_ + first * slot_size_; }
  void close(int, std::size_t, std::size_t) override {}

 private:
  std::size_t slot_size_;
  std::size_t bytes_;
  T* data_ = nullptr;
};

/// A file without a name, written and read by tiles. Not mapped: where the disk is full, a mapped
/// file ends the process, and its pages would count as the process's memory.
template <class T>
class SpilledStore : public ActivationStore<T> {
 public:
  SpilledStore(std::filesystem::path folder, std::size_t slots, std::size_t slot_size,
               std::size_t tile_slots, int workers)
      : folder_(std::move(folder)), slot_size_(slot_size), file_(open_spill_file(folder_)) {
    const std::size_t bytes = slots * slot_size * sizeof(T);
    // Claimed now, so that a disk that is too small is found before the work.
    const int error = bytes > 0 ? ::posix_fallocate(file_, 0, static_cast<off_t>(bytes)) : 0;
    if (error != 0) {
      ::close(file_);
      fail("cannot claim " + format_bytes(static_cast<double>(bytes)) +
               " for the features of the points",
           error);
    }
    for (int i = 0; i < workers; ++i) buffers_.emplace_back(tile_slots * slot_size);
  }
  ~SpilledStore() override { ::close(file_); }
  SpilledStore(const SpilledStore&) = delete;
  SpilledStore& operator=(const SpilledStore&) = delete;
  bool keeps() const override { return true; }

  T* open(int worker, std::size_t first, std::size_t count, bool load) override {
    AlignedBuffer<T>& buffer = buffers_[static_cast<std::size_t>(worker)];
    if (load) transfer(buffer.data(), first, count, ::pread, "read");
    return buffer.data();
  }
  void close(int worker, std::size_t first, std::size_t count) override {
    transfer(buffers_[static_cast<std::size_t>(worker)].data(), first, count, ::pwrite, "write");
  }

 private:
  template <class Call>
  void transfer(T* data, std::size_t first, std::size_t count, Call call, const char* verb) {
    char* at = reinterpret_cast<char*>(data);
    std::size_t left = count * slot_size_ * sizeof(T);
    auto offset = static_cast<off_t>(first * slot_size_ * sizeof(T));
    while (left > 0) {
      const ssize_t done = call(file_, at, left, offset);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0)
        fail(std::string("cannot ") + verb + " the temporary file", done < 0 ? errno : EIO);
      at += done;
      offset += done;
      left -= static_cast<std::size_t>(done);
    }
  }
  [[noreturn]] void fail(const std::string& what, int error) const {
    throw_spill_failure(what, folder_, error);
  }

  std::filesystem::path folder_;
  std::size_t slot_size_;
  int file_;
  std::vector<AlignedBuffer<T>> buffers_;
};

template <class T>
class RecomputedStore : public ActivationStore<T> {
 public:
  RecomputedStore(std::size_t slot_size, std::size_t tile_slots, int workers) {
    for (int i = 0; i < workers; ++i) buffers_.emplace_back(tile_slots * slot_size);
  }
  bool keeps() const override { return false; }
  T* open(int worker, std::size_t, std::size_t, bool) override {
    return buffers_[static_cast<std::size_t>(worker)].data();
  }
  void close(int, std::size_t, std::size_t) override {}

 private:
  std::vector<AlignedBuffer<T>> buffers_;
};

}  // namespace

void check_spill_folder(const EngineOptions& options) {
  if (options.memory == ActivationMemory::spilled) ::close(open_spill_file(spill_folder(options)));
}

template <class T>
std::unique_ptr<ActivationStore<T>> make_activation_store(const EngineOptions& options,
                                                          std::size_t slots, std::size_t slot_size,
                                                          std::size_t tile_slots, int workers) {
  switch (options.memory) {
    case ActivationMemory::resident:
      return std::make_unique<ResidentStore<T>>(slots, slot_size);
    case ActivationMemory::spilled:
      return std::make_unique<SpilledStore<T>>(spill_folder(options), slots, slot_size, tile_slots,
                                               workers);
    case ActivationMemory::recomputed:
      return std::make_unique<RecomputedStore<T>>(slot_size, tile_slots, workers);
  }
  return nullptr;
}

template std::unique_ptr<ActivationStore<float>> make_activation_store(const EngineOptions&,
                                                                       std::size_t, std::size_t,
                                                                       std::size_t, int);
template std::unique_ptr<ActivationStore<double>> make_activation_store(const EngineOptions&,
                                                                        std::size_t, std::size_t,
                                                                        std::size_t, int);

}  // namespace funcattn
