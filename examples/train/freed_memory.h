#pragma once

namespace funcattn {

/// From now on the C library keeps the memory that the process frees, for its next use by it, where
/// the environment (MALLOC_MMAP_THRESHOLD_ and so on, GLIBC_TUNABLES) says nothing of that. For
/// programs of one purpose, not for hosts of the library. Does nothing without glibc.
void keep_freed_memory();

}  // namespace funcattn
