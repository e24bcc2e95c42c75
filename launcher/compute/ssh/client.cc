#include "launcher/compute/ssh/client.h"

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "common/io/run_program.h"

namespace lockstep::compute::ssh {
namespace {

constexpr int kConnectSeconds = 15;
constexpr int kSshFailed = 255;  // ssh's own exit code when it, not the command, failed
constexpr const char* kPasswordFile = "LOCKSTEP_ASKPASS_FILE";

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

std::string shown(const Host& host) {
  return host.port == 0 ? host.address : fmt::format("{} port {}", host.address, host.port);
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
                              last));
  for (const std::string_view word :
       {"Connection refused", "Connection timed out", "No route to host", "Could not resolve",
        "Network is unreachable", "Operation timed out", "Connection closed by",
        "Connection reset by", "kex_exchange_identification", "banner exchange",
        "Connection to UNKNOWN"})
    if (has(errors, word))
      return failed(Failure::unreachable,
                    fmt::format("no ssh server answers at {}: {}", shown(host), last));
  return failed(Failure::failed, fmt::format("ssh to {} failed: {}", shown(host),
                                             last.empty() ? "ssh printed no error" : last));
}

Result<Client> Client::open(const Host& host, const ClientFiles& files) {
  Client client(host, files);
  if (!host.password.empty()) {
    TRY_ASSIGN(client.password_, io::memory_file(host.password + "\n"));
  }
  return client;
}

Client::~Client() {
  if (files_.sockets.empty()) return;  // moved from
  const std::vector<std::string> stop = words({"-O", "exit"});
  (void)io::run_program(stop, io::ProgramOptions{seconds(5)});
}

std::vector<std::string> Client::words(const std::vector<std::string>& options) const {
  const bool password = !host_.password.empty();
  std::vector<std::string> words{"ssh", "-T", "-a", "-x"};
  const auto set = [&](const std::string& option) {
    words.push_back("-o");
    words.push_back(option);
  };
  set("ClearAllForwardings=yes");
  set("PermitLocalCommand=no");
  set(fmt::format("ConnectTimeout={}", kConnectSeconds));
  set("ServerAliveInterval=10");
  set("ServerAliveCountMax=3");
  set("StrictHostKeyChecking=accept-new");
  set("UpdateHostKeys=no");
  set(fmt::format("UserKnownHostsFile=\"{}\" ~/.ssh/known_hosts", files_.known_hosts));
  set("HashKnownHosts=no");
  set("ControlMaster=auto");
  set("ControlPersist=60");
  set("ControlPath=" + files_.sockets + "/%C");
  set(password ? "PreferredAuthentications=password,keyboard-interactive" : "BatchMode=yes");
  if (password) set("NumberOfPasswordPrompts=1");
  if (!host_.key.empty()) {
    set("IdentitiesOnly=yes");
    words.insert(words.end(), {"-i", host_.key});
  }
  if (host_.port != 0) words.insert(words.end(), {"-p", std::to_string(host_.port)});
  if (!host_.user.empty()) words.insert(words.end(), {"-l", host_.user});
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", host_.address});
  return words;
}

std::vector<std::string> Client::environment() const {
  std::vector<std::string> environment{"LC_ALL=C"};  // its messages are matched
  if (password_) {
    environment.push_back("SSH_ASKPASS=" + files_.program);
    environment.push_back("SSH_ASKPASS_REQUIRE=force");
    environment.push_back(
        fmt::format("{}=/proc/{}/fd/{}", kPasswordFile, ::getpid(), password_.get()));
  }
  return environment;
}

tl::expected<Client::Answer, Failed> Client::start(const std::string& step,
                                                   const std::vector<std::string>& command,
                                                   int input, Duration timeout) const {
  std::vector<std::string> all = words({});
  all.insert(all.end(), command.begin(), command.end());
  io::ProgramOptions options{timeout};
  options.input = input;
  options.environment = environment();
  options.dies_with_us = true;  // two calls never work on one host
  auto done = io::run_program(all, options);
  if (!done) {
    const bool slow = done.error().code == ErrorCode::unavailable;
    return tl::unexpected(Failed{step, slow ? Failure::timed_out : Failure::failed,
                                 slow ? fmt::format("{} did not finish this step within {}",
                                                    shown(host_), format_duration(timeout))
                                      : done.error().message});
  }
  if (done->exit_code == kSshFailed)
    return tl::unexpected(failure_of(host_, step, done->errors, files_.known_hosts));
  return Answer{done->exit_code, std::move(done->text), std::move(done->errors)};
}

tl::expected<Client::Answer, Failed> Client::run(const std::string& step, const std::string& script,
                                                 Duration timeout) const {
  const auto input = io::memory_file(script);
  if (!input) return tl::unexpected(Failed{step, Failure::failed, input.error().message});
  return start(step, {"exec", "sh", "-s"}, input->get(), timeout);
}

tl::expected<Client::Answer, Failed> Client::send(const std::string& step,
                                                  const std::string& command, int input,
                                                  Duration timeout) const {
  return start(step, {"exec sh -c '" + command + "'"}, input, timeout);
}

bool is_askpass() { return std::getenv(kPasswordFile) != nullptr; }

int answer_askpass() {
  const io::Fd file(::open(std::getenv(kPasswordFile), O_RDONLY | O_CLOEXEC));
  if (!file) return 1;
  std::array<char, 2'048> text;
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), 0);
  if (got <= 0) return 1;
  return io::write_all(STDOUT_FILENO, {text.data(), static_cast<std::size_t>(got)}) ? 0 : 1;
}

}  // namespace lockstep::compute::ssh
