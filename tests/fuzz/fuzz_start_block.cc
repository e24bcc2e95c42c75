// lockstep-spawn's argument block: what map() takes has all its strings and tables inside.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "runner/spawn/start_block.h"

namespace {

std::size_t lengths(char* const* strings, std::size_t count) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += std::strlen(strings[i]) + 1;
  if (strings[count] != nullptr) std::abort();
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::spawn;
  const int fd = memfd_create("block", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) std::abort();
  {
    MappedBlock block;
    if (block.map(fd) == 0) {
      const StartBlock& head = block.head();
      std::size_t bytes =
          std::strlen(block.program()) + std::strlen(block.path()) + std::strlen(block.cwd()) + 3;
      bytes += lengths(block.argv(), head.argc) + lengths(block.envp(), head.envc);
      for (const char* group : block.cgroups()) bytes += std::strlen(group) + 1;
      std::uint64_t sum = 0;
      for (std::uint32_t i = 0; i < head.gids; ++i) sum += block.gids()[i];
      for (std::uint32_t i = 0; i < head.cpus; ++i) sum += static_cast<unsigned>(block.cpus()[i]);
      for (std::uint32_t i = 0; i < head.rlimits; ++i) sum += block.rlimits()[i].soft;
      if (bytes > size || (sum == 0 && head.argc == 0)) std::abort();
    }
  }
  close(fd);
  return 0;
}
