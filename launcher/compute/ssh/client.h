#pragma once
// Runs shell scripts on one host over the system's ssh, and sends files to it. All calls of one
// client use one connection. The host's output is limited in size, and the caller has to check its
// content; an error of ssh itself becomes a Failure.

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/io/file_system.h"
#include "launcher/compute/contract.h"
#include "launcher/compute/ssh/held_process.h"
#include "launcher/compute/ssh/settings.h"

namespace lockstep::compute::ssh {

// Files that live as long as the provider's process; `known_hosts` stays.
struct ClientFiles {
  std::string known_hosts;  // the target's file of host keys that were seen at the first attach
  std::string socket;       // the control socket of this host's connection; at most 90 bytes
  std::string program;      // ours: ssh starts it to ask for a password (askpass)
};

// A connection to a host, for one thread only, except `interrupt`. The connection ends when this
// object or its thread ends.
class Client {
 public:
  struct Answer {
    int exit_code = 0;
    std::string text;
    std::string errors;
  };

  // Opens a connection. `silence`: ssh gives up after this time without a message from the host.
  static Result<std::unique_ptr<Client>> open(const Host& host, const ClientFiles& files,
                                              Duration silence = seconds(30));

  // Connects. The functions below connect by themselves if there is no connection yet. Gives up
  // when `stop` becomes readable. An error says why: unreachable, refused, another host key, or too
  // slow.
  tl::expected<void, Failed> connect(const std::string& step, int stop = -1);
  void disconnect();
  // Waits until the connection has ended, and says why; nullopt: `stop` became readable.
  std::optional<Failed> wait_until_ended(const std::string& step, int stop);
  // Ends the connection, and with it everything that uses it. From any thread.
  void interrupt();

  // Runs `script` by the host's `sh`. An error when the script could not be started. What its exit
  // code means is the caller's to know.
  tl::expected<Answer, Failed> run(const std::string& step, const std::string& script,
                                   Duration timeout);
  // Runs `command`, which may not contain a single quote, with `input` as its standard input.
  tl::expected<Answer, Failed> send(const std::string& step, const std::string& command, int input,
                                    Duration timeout);
  // Listens on 127.0.0.1 of the host, on `port` and those after it, and leads what connects there
  // to `to`; for as long as the connection lasts.
  tl::expected<void, Failed> forward(const std::string& step, int port,
                                     std::span<const Address> to);

  const Host& host() const { return host_; }
  // The arguments of the ssh process that holds the connection, and additional environment
  // variables.
  std::vector<std::string> words() const;
  std::vector<std::string> environment() const;

 private:
  Client(Host host, ClientFiles files, Duration silence)
      : host_(std::move(host)), files_(std::move(files)), silence_(silence) {}
  std::vector<std::string> common_options() const;
  tl::expected<Answer, Failed> start(const std::string& step, std::vector<std::string> options,
                                     const std::string& command, int input, Duration timeout);
  Failed why_it_ended(const std::string& step);
  tl::expected<void, Failed> expect_own_key(const std::string& step) const;
  std::string proxy_command() const;

  const Host host_;
  const ClientFiles files_;
  const Duration silence_;
  io::Fd password_;  // a file in memory that askpass reads; invalid: no password is needed
  std::mutex mutex_;
  std::unique_ptr<HeldProcess> connection_;  // changed under mutex_
};

// The failure that ssh's last output describes, if ssh itself failed (exit code 255).
Failed failure_of(const Host& host, const std::string& step, const std::string& errors,
                  const std::string& known_hosts);

// Answers for `lockstep-provider` that ssh started as SSH_ASKPASS: prints the password, unless it
// is the ssh of a jump that asks, since the password is the host's. Returns the exit code.
int answer_askpass();
bool is_askpass();

}  // namespace lockstep::compute::ssh
