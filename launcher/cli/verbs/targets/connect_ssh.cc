// `lockstep compute connect-ssh`: the system's ssh to a host of a target.

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>

#include "common/io/file_system.h"
#include "launcher/cli/targets/compute_options.h"
#include "launcher/cli/targets/ssh_words.h"
#include "launcher/cli/verbs/targets/target_verbs.h"
#include "launcher/files/targets/ssh_host.h"

namespace lockstep::cli {

namespace {

constexpr const char* kExamples = R"(
  lockstep compute connect-ssh lab             the only host of the target
  lockstep compute connect-ssh lab vm2
  lockstep compute connect-ssh lab vm2 -- nvidia-smi
Exit codes are ssh's: the command's own, or 255 if ssh itself failed.)";

struct ConnectOptions {
  std::string name, host, key;
};

std::string in_home(const std::string& path) {
  const char* home = std::getenv("HOME");
  return path.starts_with("~/") && home != nullptr ? home + path.substr(1) : path;
}

// The key for a host. The key file is on the launcher's machine, which may be another one.
std::string key_for(Context& context, const SshHost& host, const ConnectOptions& options) {
  if (!options.key.empty()) return spec::absolute_key(options.key);
  if (host.key.empty() || io::exists(in_home(host.key))) return host.key;
  context.terminal.print_line(
      fmt::format("the key {} of host {} is on the launcher's machine, not here; ssh tries yours "
                  "(--private-key-file-path names one)",
                  host.key, host.name));
  return "";
}

// The host keys that the launcher saw when it attached the hosts, if it runs on this machine as
// this user.
std::string keys_of_hosts(const Context& context, const std::string& target) {
  const std::string file = context.home.launcher() + "/compute/" + target + "/known_hosts";
  return ::access(file.c_str(), R_OK) == 0 ? file : "";
}

int connect(Context& context, const ConnectOptions& options,
            const std::vector<std::string>& command) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<ComputesReply>(ListComputes{options.name});
  if (!reply) return fail(context.terminal, reply.error());
  const auto host = host_to_connect(reply->computes.front(), options.host);
  if (!host) {
    const bool is_usage = host.error().code == ErrorCode::invalid_argument;
    return fail(context.terminal, host.error(), is_usage ? kExitUsage : kExitFailure);
  }
  std::vector<std::string> words =
      ssh_words(*host, key_for(context, *host, options), command,
                keys_of_hosts(context, reply->computes.front().spec.name));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  context.terminal.clear_status();
  ::signal(SIGPIPE, SIG_DFL);  // ssh's children would inherit ignored signals
  ::execvp(argv[0], argv.data());
  return fail(context.terminal, errno == ENOENT
                                    ? make_error(ErrorCode::not_found,
                                                 "there is no program ssh on the PATH; install an "
                                                 "OpenSSH client")
                                    : errno_error(errno, "start ssh"));
}

}  // namespace

void add_connect_ssh_verb(CLI::App& group, VerbTable table) {
  CLI::App* const verb = table.add_below(group, "connect-ssh", "a shell on a host of a target");
  if (verb == nullptr) return;
  const auto options = std::make_shared<ConnectOptions>();
  auto* name = verb->add_option("-n,--name,NAME", options->name, "the target's name");
  name->check(filled("`lockstep compute list` shows the names"));
  verb->add_option("HOST", options->host, "the host's name; leave it out if there is only one")
      ->check(filled("leave it out if there is only one"));
  verb->add_option("--private-key-file-path", options->key,
                   "log in with this key (default: the host's)")
      ->check(filled("leave it out for the host's key"));
  verb->parse_complete_callback([name] {
    if (name->count() == 0) throw CLI::RequiredError("NAME");
  });
  verb->footer(kExamples);
  const std::vector<std::string> command = table.command;
  verb->callback([table, options, command] {
    table.action = [options, command](Context& context) {
      return connect(context, *options, command);
    };
  });
}

}  // namespace lockstep::cli
