#pragma once
// The door to processes: who is alive (by pid and start time, so that a reused pid is not
// mistaken), detached starts, users, and the numbers of this host that identify a boot.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/io/file_system.h"

namespace lockstep::io {

struct ProcessIdentity {
  int pid = 0;
  std::uint64_t start_ticks = 0;  // /proc/PID/stat field 22
  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};
std::optional<ProcessIdentity> identify(int pid);  // nullopt: no such process
bool is_alive(const ProcessIdentity& who);         // false for zombies
// Also true for a killed process that still waits for the disk: it answers nobody any more, but
// still holds its locks.
bool is_ending(const ProcessIdentity& who);
std::string to_text(const ProcessIdentity& who);  // "pid ticks\n"
std::optional<ProcessIdentity> process_identity_from(const std::string& text);
// A pidfd: readable once the process has ended, its zombie included. not_found: it is gone.
Result<Fd> open_process(const ProcessIdentity& who);
// Never signals another process that reused the pid. Success when the process is gone.
Status signal_process(const ProcessIdentity& who, int signal);

struct DetachedStart {
  std::string program;                 // absolute
  std::vector<std::string> arguments;  // argv[0] included
  std::map<std::string, std::string> environment;
  std::string directory = "/";
  std::string log_path;  // stdout and stderr, appended; "" = /dev/null
  int input = -1;        // stdin; -1 = /dev/null
};
// Double fork + setsid: the child outlives us and is nobody's zombie. Waits until exec succeeded.
Result<ProcessIdentity> start_detached(const DetachedStart& start);

struct User {
  std::string name;
  std::uint32_t uid = 0, gid = 0;
  std::string home, shell;
  std::vector<std::uint32_t> groups;
};
Result<User> find_user(const std::string& name);
Result<User> current_user();

// Boot id + start time of PID 1, so that a container's restart counts (DESIGN §4).
BootId current_boot();
// The kernel's boot id + network namespace inode: equal for nodes that share a loopback.
std::string current_host_id();
std::string host_name();
// Directory of the running executable.
std::string program_directory();
// Another program of this installation: beside the running one, as in a build or a bundle, else in
// ../libexec/lockstep, where `cmake --install` puts what nobody calls by hand.
Result<std::string> find_program(const std::string& name);
// The top of the bundle that we were unpacked with (scripts/bundle); nullopt: no bundle.
std::optional<std::string> bundle_directory();
// The variables of this process.
std::map<std::string, std::string> own_environment();
// No core dump of this process or its children is written, unless they raise their limit again, as
// ranks do: it holds secrets.
void forbid_core_dumps();
// 64 bits from getrandom(2).
std::uint64_t random_u64();

}  // namespace lockstep::io
