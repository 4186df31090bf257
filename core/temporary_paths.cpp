#include "core/temporary_paths.h"

#include <string.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <new>

namespace funcattn {

namespace {

// A signal handler may not wait for a lock, so the paths stand in blocks that are only ever added.
struct Block {
  std::array<std::atomic<char*>, 64> slots{};
  std::atomic<Block*> next{nullptr};
};

Block first_block;
std::atomic<bool> removing{false};

std::atomic<char*>& claim_slot(char* text) {
  for (Block* block = &first_block;;) {
    for (std::atomic<char*>& slot : block->slots) {
      char* empty = nullptr;
      if (slot.compare_exchange_strong(empty, text)) return slot;
    }
    Block* next = block->next.load();
    if (!next) {
      auto* added = new Block;
      if (block->next.compare_exchange_strong(next, added))
        next = added;
      else
        delete added;
    }
    block = next;
  }
}

template <class Remove>
void for_each_path(Remove remove) {
  for (Block* block = &first_block; block; block = block->next.load())
    for (std::atomic<char*>& slot : block->slots)
      if (const char* text = slot.load()) remove(text);
}

}  // namespace

TemporaryPath::TemporaryPath(const std::filesystem::path& path) {
  while (removing.load()) ::pause();
  char* text = ::strdup(path.c_str());
  if (!text) throw std::bad_alloc();
  slot_ = &claim_slot(text);
}

TemporaryPath::~TemporaryPath() {
  if (!slot_) return;
  char* text = slot_->exchange(nullptr);
  // A handler that began before the exchange may still read the text.
  if (!removing.load()) std::free(text);
}

void remove_temporary_paths() noexcept {
  removing.store(true);
  for_each_path([](const char* path) { ::unlink(path); });
  for_each_path([](const char* path) { ::rmdir(path); });
}

}  // namespace funcattn
