#pragma once
// One host over the system's ssh: runs shell scripts there, and sends it a file. All calls of one
// client go over one connection. What the host prints is bounded and has to be checked by the
// caller; what ssh itself says when it fails becomes a Failure.

#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/io/file_system.h"
#include "launcher/compute/contract.h"
#include "launcher/compute/ssh/settings.h"

namespace lockstep::compute::ssh {

// Files that live as long as the provider's process.
struct ClientFiles {
  std::string known_hosts;  // of the target: host keys that were seen at the first attach
  std::string sockets;      // a directory of this process for ssh's shared connections; short
  std::string program;      // ours: ssh starts it to ask for a password (askpass)
};

class Client {
 public:
  struct Answer {
    int exit_code = 0;
    std::string text;
    std::string errors;
  };

  static Result<Client> open(const Host& host, const ClientFiles& files);
  ~Client();  // closes the shared connection
  Client(Client&&) = default;
  Client& operator=(Client&&) = delete;

  // Runs `script` by the host's `sh`. An error when the script could not be started: unreachable,
  // refused, another host key, or too slow. What its exit code means is the caller's to know.
  tl::expected<Answer, Failed> run(const std::string& step, const std::string& script,
                                   Duration timeout) const;
  // Runs `command`, which may not contain a single quote, with `input` as its standard input.
  tl::expected<Answer, Failed> send(const std::string& step, const std::string& command, int input,
                                    Duration timeout) const;
  // The words of ssh up to and with the destination, for `hold`.
  std::vector<std::string> words(const std::vector<std::string>& options) const;
  std::vector<std::string> environment() const;

 private:
  Client(Host host, ClientFiles files) : host_(std::move(host)), files_(std::move(files)) {}
  tl::expected<Answer, Failed> start(const std::string& step,
                                     const std::vector<std::string>& command, int input,
                                     Duration timeout) const;

  Host host_;
  ClientFiles files_;
  io::Fd password_;  // a file in memory that askpass reads; invalid: there is no password
};

// What ssh's last words mean, when it could not do its own part (exit code 255).
Failed failure_of(const Host& host, const std::string& step, const std::string& errors,
                  const std::string& known_hosts);

// `lockstep-provider` started by ssh as SSH_ASKPASS: prints the password. The exit code.
int answer_askpass();
bool is_askpass();

}  // namespace lockstep::compute::ssh
