#include "launcher/compute/ssh/client.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "common/io/clock.h"
#include "common/io/programs/run_program.h"

namespace lockstep::compute::ssh {
namespace {

constexpr int kConnectSeconds = 15;
constexpr int kSshFailed = 255;  // exit code if ssh itself failed, not the command
constexpr Duration kConnectTimeout = seconds(60);
constexpr Duration kLook = milliseconds(50);
constexpr Duration kForwardTimeout = seconds(30);
constexpr const char* kPasswordFile = "LOCKSTEP_ASKPASS_FILE";
// The variable names the ssh that may ask for a password.
constexpr const char* kAsker = "LOCKSTEP_ASKPASS_PARENT";

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of("\r\n ");
  if (end == std::string::npos) return "";
  const auto begin = text.rfind('\n', end);
  std::string line = text.substr(begin == std::string::npos ? 0 : begin + 1, end - begin);
  line.resize(std::min<std::size_t>(line.size(), 300));
  return line;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// The line that contains `part`.
std::string line_with(const std::string& text, std::string_view part) {
  return last_line(text.substr(0, text.find('\n', text.find(part))));
}

std::string shown(const Host& host) {
  std::string text = host.address;
  if (host.port != 0) text += fmt::format(" port {}", host.port);
  if (!host.jump.address.empty()) text += " (through " + host.jump.address + ")";
  return text;
}

// Quotes for a shell, and for ssh, which expands % in a ProxyCommand.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
      if (c == '%') text += '%';
    }
  }
  return text + "'";
}

// Whether we started this ssh. The ssh to a jump host is a child of the ssh that we started; both
// have our environment.
bool is_ours(int ssh) {
  const char* const asker = std::getenv(kAsker);
  const auto stat = io::read_file(fmt::format("/proc/{}/stat", ssh));
  if (asker == nullptr || !stat) return false;
  const auto end = stat->rfind(')');  // the name may contain parentheses, so the last one ends it
  int parent = 0;
  return end != std::string::npos &&
         std::sscanf(stat->c_str() + end + 1, " %*c %d", &parent) == 1 &&
         std::to_string(parent) == asker;
}

}  // namespace

Failed failure_of(const Host& host, const std::string& step, const std::string& errors,
                  const std::string& known_hosts) {
  const std::string last = last_line(errors);
  const auto failed = [&](Failure code, const std::string& message) {
    return Failed{step, code, message};
  };
  if (has(errors, "REMOTE HOST IDENTIFICATION HAS CHANGED") ||
      has(errors, "Host key verification failed"))
    return failed(Failure::host_key,
                  fmt::format("the host key of {} has changed since the host was attached. Another "
                              "machine answers at this address, or the host was reinstalled; if "
                              "you expect the new key, remove the host's line from {}",
                              shown(host), known_hosts));
  if (has(errors, "Permission denied") || has(errors, "Too many authentication failures"))
    return failed(Failure::unauthenticated,
                  fmt::format("{} refused {}: {}", shown(host),
                              !host.password.empty() ? "the password"
                              : !host.key.empty()    ? "the key " + host.key
                                                     : "every key that ssh offered",
                              has(last, "denied") ? last : line_with(errors, "Permission denied")));
  if (has(errors, "forwarding request failed") || has(errors, "forwarding failed"))
    return failed(Failure::unsupported, fmt::format("{} forwards no port: {}", shown(host), last));
  for (const std::string_view word :
       {"Connection refused", "Connection timed out", "No route to host", "Could not resolve",
        "Network is unreachable", "Operation timed out", "Connection closed by",
        "Connection reset by", "kex_exchange_identification", "banner exchange",
        "Connection to UNKNOWN"})
    if (has(errors, word))
      return failed(Failure::unreachable, fmt::format("no ssh server answers at {}: {}",
                                                      shown(host), line_with(errors, word)));
  return failed(Failure::failed, fmt::format("ssh to {} failed: {}", shown(host),
                                             last.empty() ? "ssh printed no error" : last));
}

Result<std::unique_ptr<Client>> Client::open(const Host& host, const ClientFiles& files,
                                             Duration silence) {
  std::unique_ptr<Client> client(new Client(host, files, silence));
  if (!host.password.empty()) {
    TRY_ASSIGN(client->password_, io::memory_file(host.password + "\n"));
  }
  return client;
}

// Checks that a key is our own. An admin of the launcher chooses its path, and a launcher that runs
// as root could read anybody's key.
tl::expected<void, Failed> Client::expect_own_key(const std::string& step) const {
  struct stat info {};
  const char* home = std::getenv("HOME");
  const bool is_in_home = host_.key.starts_with("~/") && home != nullptr;
  const std::string path = is_in_home ? home + host_.key.substr(1) : host_.key;
  if (path.empty()) return {};
  if (::stat(path.c_str(), &info) != 0)
    return tl::unexpected(
        Failed{step, Failure::unauthenticated,
               fmt::format("the private key {} cannot be read on the launcher's machine ({}); name "
                           "another with --ssh-private-key-file",
                           host_.key, std::strerror(errno))});
  if (info.st_uid == ::geteuid()) return {};
  return tl::unexpected(
      Failed{step, Failure::no_permission,
             fmt::format("the private key {} belongs to another account than the launcher's, so "
                         "it is not used; give the launcher's account a key of its own",
                         host_.key)});
}

tl::expected<void, Failed> Client::connect(const std::string& step, int stop) {
  if (auto good = expect_own_key(step); !good) return good;
  disconnect();
  (void)io::remove_tree(files_.socket);  // left by an ssh that was killed
  auto started = HeldProcess::start(words(), environment());
  if (!started) return tl::unexpected(Failed{step, Failure::failed, started.error().message});
  {
    const std::lock_guard lock(mutex_);
    connection_ = std::move(*started);
  }
  io::SystemClock clock;
  const Instant end = clock.now() + kConnectTimeout;
  // ssh makes its socket when the host has accepted it.
  while (::access(files_.socket.c_str(), F_OK) != 0) {
    const auto waited = connection_->wait(stop, kLook);
    if (waited == HeldProcess::Wait::ended) return tl::unexpected(why_it_ended(step));
    const bool stopped = waited == HeldProcess::Wait::stopped;
    if (!stopped && clock.now() < end) continue;
    disconnect();
    return tl::unexpected(Failed{step, Failure::timed_out,
                                 fmt::format("{} did not let ssh in within {}", shown(host_),
                                             format_duration(kConnectTimeout))});
  }
  return {};
}

void Client::disconnect() {
  std::unique_ptr<HeldProcess> ended;
  const std::lock_guard lock(mutex_);
  ended = std::move(connection_);
}

void Client::interrupt() {
  const std::lock_guard lock(mutex_);
  if (connection_) connection_->terminate();
}

std::optional<Failed> Client::wait_until_ended(const std::string& step, int stop) {
  if (connection_->wait(stop, Duration(-1)) == HeldProcess::Wait::stopped) return std::nullopt;
  return why_it_ended(step);
}

Failed Client::why_it_ended(const std::string& step) {
  Failed failed = failure_of(host_, step, connection_->errors(), files_.known_hosts);
  if (failed.code == Failure::failed)
    failed.message += " (it ended " + connection_->how_it_ended() + ")";
  return failed;
}

// Options for the host and for its jump host. ssh probes a silent host three times.
std::vector<std::string> Client::common_options() const {
  return {fmt::format("ConnectTimeout={}", kConnectSeconds),
          fmt::format("ServerAliveInterval={}", silence_ / seconds(3)),
          "ServerAliveCountMax=2",
          "ClearAllForwardings=yes",
          "PermitLocalCommand=no",
          "StrictHostKeyChecking=accept-new",
          "UpdateHostKeys=no",
          "HashKnownHosts=no",
          fmt::format("UserKnownHostsFile=\"{}\" ~/.ssh/known_hosts", files_.known_hosts)};
}

// The command by which ssh connects through the jump host. With ssh's own `-J`, the jump host would
// get none of our options: no time limit, no key, no known hosts.
std::string Client::proxy_command() const {
  std::string command = "ssh -T -a -x -o BatchMode=yes -o ControlMaster=no -o ControlPath=none";
  for (const std::string& option : common_options()) command += " -o " + quoted(option);
  if (!host_.key.empty()) command += " -o IdentitiesOnly=yes -i " + quoted(host_.key);
  if (host_.jump.port != 0) command += fmt::format(" -p {}", host_.jump.port);
  if (!host_.jump.user.empty()) command += " -l " + host_.jump.user;
  return command + " -W '[%h]:%p' -- " + host_.jump.address;
}

std::vector<std::string> Client::words() const {
  const bool password = !host_.password.empty();
  std::vector<std::string> words{"ssh", "-N", "-T", "-a", "-x"};
  const auto set = [&](const std::string& option) {
    words.push_back("-o");
    words.push_back(option);
  };
  for (const std::string& option : common_options()) set(option);
  set("ExitOnForwardFailure=yes");
  set("ControlMaster=yes");
  set("ControlPersist=no");
  set("ControlPath=" + files_.socket);
  set(password ? "PreferredAuthentications=password,keyboard-interactive" : "BatchMode=yes");
  if (password) set("NumberOfPasswordPrompts=1");
  if (!host_.jump.address.empty()) set("ProxyCommand=" + proxy_command());
  if (!host_.key.empty()) {
    set("IdentitiesOnly=yes");
    words.insert(words.end(), {"-i", host_.key});
  }
  if (host_.port != 0) words.insert(words.end(), {"-p", std::to_string(host_.port)});
  if (!host_.user.empty()) words.insert(words.end(), {"-l", host_.user});
  words.insert(words.end(), {"--", host_.address});
  return words;
}

std::vector<std::string> Client::environment() const {
  // ssh's messages are compared with English texts
  std::vector<std::string> environment{"LC_ALL=C"};
  if (password_) {
    environment.push_back("SSH_ASKPASS=" + files_.program);
    environment.push_back("SSH_ASKPASS_REQUIRE=force");
    environment.push_back(
        fmt::format("{}=/proc/{}/fd/{}", kPasswordFile, ::getpid(), password_.get()));
    environment.push_back(fmt::format("{}={}", kAsker, ::getpid()));
  }
  return environment;
}

// Uses only the existing connection, without the person's configuration: that was read for the
// connection, and its forwards must not be set up again.
tl::expected<Client::Answer, Failed> Client::start(const std::string& step,
                                                   std::vector<std::string> options,
                                                   const std::string& command, int input,
                                                   Duration timeout) {
  if (!connection_) {
    if (auto connected = connect(step); !connected) return tl::unexpected(connected.error());
  }
  std::vector<std::string> all{"ssh", "-T",         "-F", "none", "-o", "ProxyCommand=false",
                               "-S",  files_.socket};
  all.insert(all.end(), options.begin(), options.end());
  all.insert(all.end(), {"--", host_.address});
  if (!command.empty()) all.push_back(command);
  io::ProgramOptions how{timeout};
  how.input = input;
  how.environment = {"LC_ALL=C"};
  how.dies_with_us = true;  // set so that two calls never work on one host
  auto done = io::run_program(all, how);
  if (!done) {
    const bool slow = done.error().code == ErrorCode::unavailable;
    return tl::unexpected(Failed{step, slow ? Failure::timed_out : Failure::failed,
                                 slow ? fmt::format("{} did not finish this step within {}",
                                                    shown(host_), format_duration(timeout))
                                      : done.error().message});
  }
  if (done->exit_code != kSshFailed)
    return Answer{done->exit_code, std::move(done->text), std::move(done->errors)};
  if (connection_->wait(-1, kLook) == HeldProcess::Wait::ended)
    return tl::unexpected(why_it_ended(step));
  return tl::unexpected(failure_of(host_, step, done->errors, files_.known_hosts));
}

tl::expected<Client::Answer, Failed> Client::run(const std::string& step, const std::string& script,
                                                 Duration timeout) {
  const auto input = io::memory_file(script);
  if (!input) return tl::unexpected(Failed{step, Failure::failed, input.error().message});
  return start(step, {}, "exec sh -s", input->get(), timeout);
}

tl::expected<Client::Answer, Failed> Client::send(const std::string& step,
                                                  const std::string& command, int input,
                                                  Duration timeout) {
  return start(step, {}, "exec sh -c '" + command + "'", input, timeout);
}

tl::expected<void, Failed> Client::forward(const std::string& step, int port,
                                           std::span<const Address> to) {
  std::vector<std::string> options{"-O", "forward"};
  for (const Address& address : to) {
    options.push_back("-R");
    options.push_back(fmt::format("127.0.0.1:{}:[{}]:{}", port++, address.host, address.port));
  }
  const auto done = start(step, options, "", -1, kForwardTimeout);
  if (done) return {};
  return tl::unexpected(done.error());
}

bool is_askpass() { return std::getenv(kPasswordFile) != nullptr; }

int answer_askpass() {
  if (!is_ours(::getppid())) return 1;
  const io::Fd file(::open(std::getenv(kPasswordFile), O_RDONLY | O_CLOEXEC));
  if (!file) return 1;
  std::array<char, 2'048> text;
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), 0);
  if (got <= 0) return 1;
  return io::write_all(STDOUT_FILENO, {text.data(), static_cast<std::size_t>(got)}) ? 0 : 1;
}

}  // namespace lockstep::compute::ssh
