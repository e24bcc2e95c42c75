#include "agent/inventory/machine.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "agent/inventory/memory.h"
#include "common/io/file_system.h"
#include "common/io/process.h"

namespace lockstep::agent {

// Describes the machine. Neither the machine id nor the boot id identifies it: cloned images share
// the first, and containers have the boot id of their machine, but limits of their own.
MachinePart probe_machine(const Share& share) {
  MachinePart machine;
  struct stat processes {};
  (void)::stat("/proc/self/ns/pid", &processes);
  machine.id = fmt::format("{}:{}", io::current_host_id(), processes.st_ino);
  const std::string id = io::read_file("/etc/machine-id", kibibytes(4)).value_or("");
  machine.machine_id = id.substr(0, id.find('\n'));
  machine.memory = probe_memory().usable;
  machine.is_part = share.is_part();
  return machine;
}

}  // namespace lockstep::agent
