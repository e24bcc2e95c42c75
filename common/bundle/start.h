#pragma once
// The start of a bundled program (docs/decisions/012): it names no dynamic linker, which would have
// to be an absolute path, but maps the one that lies in its own bundle, ../lib/ld-linux-x86-64.so.2
// beside it, and goes on there as if the kernel had done so. /proc/self/exe, the process's name and
// its arguments are the program's own, and no variable is set that its children would inherit.
//
// This part works on memory only and uses no library, not even C's: none is loaded yet when it
// runs.

#include <elf.h>

#include <cstddef>
#include <cstdint>

namespace lockstep::bundle {

// The entries of a process's initial stack that the start reads and changes.
struct Auxiliary {
  Elf64_auxv_t* first;
  Elf64_auxv_t* find(std::uint64_t type) const {
    for (Elf64_auxv_t* entry = first; entry->a_type != AT_NULL; ++entry)
      if (entry->a_type == type) return entry;
    return nullptr;
  }
};

inline Auxiliary auxiliary_of(std::uintptr_t* stack) {
  std::uintptr_t* word = stack + 1 + stack[0] + 1;  // argc, argv, its end
  while (*word != 0) ++word;                        // the environment
  return {reinterpret_cast<Elf64_auxv_t*>(word + 1)};
}

// "<root>/bin/program" -> "<root>" + `suffix`, in place. False: it does not fit, or has no root.
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
