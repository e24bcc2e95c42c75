#pragma once
// The command line of lockstepd, validated, and the codes it exits with.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "common/domain/messages/client_limits.h"
#include "launcher/audit/log.h"
#include "launcher/core/core.h"

namespace lockstep::launcher {

enum class ExitCode {
  ok = 0,
  internal = 1,
  usage = 2,            // a bad flag
  already_running = 3,  // another daemon has this home
  store_refused = 4,    // journal or blobs are damaged, newer, or unreadable
  cannot_listen = 5,
  commit_failed = 6,  // the journal could not be written; nothing was sent since, and jobs continue
  logs_failed = 7,    // a log could not be made durable; it was not acknowledged, and jobs continue
};

struct Listen {
  std::string host = "127.0.0.1";
  int port = 0;  // the control port; bulk and join use the next two. 0: any three free ports
};

struct Options {
  std::string home;
  std::optional<Listen> listen;     // absent: loopback, the ports of last time if they are free
  std::optional<Listen> moving_to;  // the future address of this launcher: moving_to.h
  std::string advertise;  // the host for tokens and endpoint.json; default: the host of `listen`
  bool allow_root = false;
  int user_messages_per_second = kUserMessagesPerSecond;  // the limit for one key
  bool by_lockstep = false;                               // the command line started us
  std::vector<std::string> command;                       // our own argv
  std::string log_level = "info";
  Duration blob_lease = minutes(60);    // how long unreferenced blobs are kept after the last use
  Bytes low_space = {};                 // 0: io::default_low_space
  Bytes reserve = {};                   // 0: DiskMonitor's default
  Bytes keep_audit = kDefaultAudit;     // the audit log's total size
  Duration silent_after = minutes(10);  // see Measurements
  // How long the server of a remote datastore may be silent before it is given up.
  Duration remote_silence = minutes(2);
  std::string datastores;            // absolute; "": LauncherHome::datastores()
  std::string workspace_datastores;  // absolute; "": none
  std::string node_bundle;           // absolute; "": beside our program (find_node_bundle)
  // compacts at this many facts beyond twice the number that was kept
  std::uint64_t compact_after = 10'000;
  CoreConfig core;
};

// The output and the exit code, if the daemon should not run: help, version, or a wrong flag.
struct Leave {
  std::string text;
  ExitCode code = ExitCode::ok;
};
std::variant<Options, Leave> parse_options(int argc, const char* const* argv);

// "tcp://HOST:PORT"; HOST may be [an IPv6 address], PORT 0 or * any.
Result<Listen> parse_listen(const std::string& text);
// Reads an address that other machines can dial.
Result<Listen> parse_moving_to(const std::string& text);

}  // namespace lockstep::launcher
