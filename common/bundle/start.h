#pragma once
// The start-up code of a bundled program (docs/decisions/012). The program's ELF header names no
// dynamic linker, because that would have to be an absolute path. Instead the program maps the
// linker of its own bundle (../lib/ld-linux-x86-64.so.2, relative to the program) and jumps to it
// as the kernel would. So /proc/self/exe, the process's name and its arguments are the program's
// own, and no variable is set that its children would inherit.
//
// This header has the functions that only work on memory. They use no library, not even libc,
// because they run before any library is loaded.

#include <elf.h>

#include <cstddef>
#include <cstdint>

namespace lockstep::bundle {

// The auxiliary vector on a new process's stack, which the start-up code reads and changes.
struct Auxiliary {
  Elf64_auxv_t* first;
  Elf64_auxv_t* find(std::uint64_t type) const {
    for (Elf64_auxv_t* entry = first; entry->a_type != AT_NULL; ++entry)
      if (entry->a_type == type) return entry;
    return nullptr;
  }
};

inline Auxiliary auxiliary_of(std::uintptr_t* stack) {
  std::uintptr_t* word = stack + 1 + stack[0] + 1;  // skips argc, argv and its final null
  while (*word != 0) ++word;                        // skips the environment
  return {reinterpret_cast<Elf64_auxv_t*>(word + 1)};
}

// Replaces "<root>/bin/program" in `path` by "<root>" + `suffix`. `length`: the path's length now;
// `size`: the buffer's size. False: the result does not fit, or the path has no such root.
inline bool beside_program(char* path, std::size_t length, std::size_t size, const char* suffix) {
  for (int part = 0; part < 2; ++part) {
    while (length > 0 && path[length - 1] != '/') --length;
    if (length == 0) return false;
    --length;
  }
  for (; *suffix != '\0'; ++suffix) {
    if (length + 1 >= size) return false;
    path[length++] = *suffix;
  }
  path[length] = '\0';
  return true;
}

}  // namespace lockstep::bundle
