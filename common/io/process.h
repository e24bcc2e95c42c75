#pragma once
// Functions about processes: identity (pid and start time, so that a reused pid is not mistaken for
// the old process), detached starts, users, and the ids of this host and its boot.

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
std::optional<ProcessIdentity> identify(int pid);  // nullopt: the process does not exist
bool is_alive(const ProcessIdentity& who);         // whether the process runs; false for zombies
// True when the process has ended, or was killed and still waits for the disk: then it does no work
// any more, but still holds its locks.
bool is_ending(const ProcessIdentity& who);
std::string to_text(const ProcessIdentity& who);  // "pid ticks\n"
std::optional<ProcessIdentity> process_identity_from(const std::string& text);
// Opens a pidfd. It becomes readable when the process has ended, even while it is a zombie. Returns
// not_found if the process does not exist any more.
Result<Fd> open_process(const ProcessIdentity& who);
// Signals the process, and never another one that got the pid later. A process that has ended is
// success.
Status signal_process(const ProcessIdentity& who, int signal);

struct DetachedStart {
  std::string program;                 // absolute
  std::vector<std::string> arguments;  // argv[0] included
  std::map<std::string, std::string> environment;
  std::string directory = "/";
  std::string log_path;  // stdout and stderr, appended; "" = /dev/null
  int input = -1;        // stdin; -1 = /dev/null
};
// Starts a program by double fork and setsid: the child outlives us, and init reaps it. Waits until
// exec has succeeded.
Result<ProcessIdentity> start_detached(const DetachedStart& start);

struct User {
  std::string name;
  std::uint32_t uid = 0, gid = 0;
  std::string home, shell;
  std::vector<std::uint32_t> groups;
};
Result<User> find_user(const std::string& name);
Result<User> current_user();

// The id of the boot: boot id and start time of PID 1, so that a container's restart counts as a
// reboot (DESIGN §4).
BootId current_boot();
// The kernel's boot id + network namespace inode: equal for nodes that share a loopback.
std::string current_host_id();
std::string host_name();
// The directory of the running executable.
std::string program_directory();
// The path of another program of this installation: in the directory of the running one, as in a
// build or a bundle; otherwise in ../libexec/lockstep, where `cmake --install` puts programs that
// people do not call themselves.
Result<std::string> find_program(const std::string& name);
// The top directory of the bundle that this program is in (scripts/bundle); nullopt: in no bundle.
std::optional<std::string> bundle_directory();
// The environment variables of this process.
std::map<std::string, std::string> own_environment();
// Disables core dumps of this process, because it holds secrets, and of its children, unless they
// raise their limit again, as ranks do.
void forbid_core_dumps();
// Random 64 bits from getrandom(2).
std::uint64_t random_u64();

}  // namespace lockstep::io
