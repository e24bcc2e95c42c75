#include "tests/unit/launcher/daemon/daemon_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "common/wire/messages/bulk.h"
#include "common/wire/messages/control.h"

namespace lockstep::test {

namespace {

bool wait_until(const std::function<bool()>& condition) {
  io::SystemClock clock;
  const Instant end = clock.now() + kTimeout;
  while (!condition()) {
    if (clock.now() > end) return false;
    const timespec pause{0, 2'000'000};
    nanosleep(&pause, nullptr);
  }
  return true;
}

}  // namespace

DaemonProcess::DaemonProcess() : home_(dir_.path() + "/launcher") {
  (void)io::make_directories(home_.keys(), 0700).has_value();
  owner_ = io::generate_key_pair();
  authorize(io::current_user()->name, owner_.public_key);
}

DaemonProcess::~DaemonProcess() {
  if (pid_ > 0) signal(SIGKILL);
}

bool DaemonProcess::start(std::vector<std::string> flags) {
  std::vector<std::string> words = {"lockstepd", "--home", home_.path(), "--log-level", "debug"};
  words.insert(words.end(), flags.begin(), flags.end());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string log_path = dir_.path() + "/log";
  exit_code_ = -1;
  pid_ = fork();
  if (pid_ == 0) {
    const int log = open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(log, 2);
    const auto most = static_cast<rlim_t>(open_files_);
    const rlimit files{most, most};
    if (most > 0 && setrlimit(RLIMIT_NOFILE, &files) != 0) _exit(126);
    execv(LOCKSTEPD, argv.data());
    _exit(127);
  }
  const bool listens = wait_until([&] {
    if (reap(false)) return true;
    const auto endpoint = launcher::read_endpoint_file(home_.endpoint());
    if (!endpoint || endpoint->pid != pid_) return false;
    endpoint_ = *endpoint;
    return true;
  });
  if (listens && pid_ > 0) make_ann_admin();
  return listens && pid_ > 0;
}

// Most tests ask for what only admins may; those about roles have users of other names.
void DaemonProcess::make_ann_admin() {
  launcher::EndpointFile here = endpoint_;  // what it tells others may not be dialled from here
  if (!here.local_control.empty()) here.control = here.local_control;
  Peer owner(here, owner_);
  owner.ask(ChangePrincipals{ChangeRole{"ann", {Role::admin, ""}, false}});
}

bool DaemonProcess::reap(bool wait) {
  int status = 0;
  if (waitpid(pid_, &status, wait ? 0 : WNOHANG) != pid_) return false;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  pid_ = 0;
  return true;
}

void DaemonProcess::signal(int number) {
  if (pid_ <= 0) return;
  kill(pid_, number);
  if (!wait_until([this] { return reap(false); })) {
    kill(pid_, SIGKILL);
    reap(true);
  }
}

std::string DaemonProcess::log() const {
  return io::read_file(dir_.path() + "/log").value_or("(no log)");
}

void DaemonProcess::authorize(const std::string& name, const PublicKey& key) {
  auto text = io::read_file(home_.authorized_users()).value_or("");
  text += name + " " + key.value + "\n";
  (void)io::write_file_atomically(home_.authorized_users(), text, 0600).has_value();
}

Peer::Peer(const launcher::EndpointFile& endpoint, io::KeyPair keys)
    : endpoint_(endpoint),
      transport_(loop_, [](const std::string&, const PublicKey&) { return false; }),
      keys_(std::move(keys)) {}

Peer::~Peer() {
  for (auto* socket : {&control_, &bulk_, &join_})
    if (*socket) loop_.unwatch_socket((*socket)->handle());
}

io::ClientSocket& Peer::dialled(std::optional<io::ClientSocket>& socket,
                                const std::string& endpoint) {
  if (!socket) {
    socket.emplace(
        io::ClientSocket::connect(transport_, endpoint, endpoint_.public_key, keys_).value());
    loop_.watch_socket(socket->handle(), [this] { receive(); });
  }
  return *socket;
}

void Peer::receive() {
  const auto drain = [](auto& socket, const auto& decode, auto& into) {
    if (!socket) return;
    while (auto bytes = socket->receive())
      if (auto envelope = decode(*bytes)) into.push_back(std::move(*envelope));
  };
  while (auto bytes = control_ ? control_->receive() : std::nullopt) {
    if (auto reply = wire::decode_envelope<ClientReply>(*bytes)) {
      control_in_.push_back({reply->reply_to, std::move(reply->body)});
    } else if (auto told = wire::decode_envelope<AgentReply>(*bytes)) {
      control_in_.push_back({told->reply_to, std::move(told->body)});
    }
  }
  while (auto bytes = join_ ? join_->receive() : std::nullopt)
    if (auto reply = wire::decode_envelope<JoinReply>(*bytes))
      join_in_.push_back(std::move(reply->body));
  drain(bulk_, wire::decode_bulk, bulk_in_);
}

bool Peer::wait(const std::function<bool()>& condition, Duration timeout) {
  io::SystemClock clock;
  const Instant end = clock.now() + timeout;
  while (!condition()) {
    const Instant now = clock.now();
    if (now >= end) return false;
    loop_.turn(end - now);
  }
  return true;
}

std::string Peer::encoded(const Saying& saying) {
  ++sequence_;
  return std::visit(
      [this](const auto& body) {
        return wire::encode(
            Envelope<std::decay_t<decltype(body)>>{kProtocolVersion, sequence_, 0, 0, body});
      },
      saying);
}

std::optional<Peer::Heard> Peer::ask(Saying request, Duration timeout) {
  if (!dialled(control_, endpoint_.control).send_within(encoded(request), timeout))
    return std::nullopt;
  std::optional<Heard> reply;
  wait(
      [&, asked = sequence_] {
        for (auto it = control_in_.begin(); it != control_in_.end(); ++it) {
          if (it->reply_to != asked) continue;
          reply = std::move(*it);
          control_in_.erase(it);
          return true;
        }
        return false;
      },
      timeout);
  return reply;
}

void Peer::send_join(const JoinRequest& request) {
  const Envelope<JoinMessage> envelope{kProtocolVersion, ++sequence_, 0, 0, request};
  (void)dialled(join_, endpoint_.join).send_within(wire::encode(envelope), kTimeout).has_value();
}

std::optional<JoinReply> Peer::join(const JoinRequest& request) {
  send_join(request);
  if (!wait([&] { return !join_in_.empty(); })) return std::nullopt;
  auto reply = std::move(join_in_.front());
  join_in_.pop_front();
  return reply;
}

void Peer::send(Saying message) { send_raw(encoded(message)); }

void Peer::send_raw(const std::string& bytes) {
  (void)dialled(control_, endpoint_.control).send_within(bytes, kTimeout).has_value();
}

void Peer::send_bulk(BulkMessage message) {
  const BulkEnvelope envelope{wire::kBulkVersion, ++sequence_, 0, std::move(message)};
  (void)dialled(bulk_, endpoint_.bulk).send_within(wire::encode(envelope), kTimeout).has_value();
}

io::KeyPair authorized_user(DaemonProcess& daemon, const std::string& name) {
  auto keys = io::generate_key_pair();
  daemon.authorize(name, keys.public_key);
  return keys;
}

JobSpec small_job(const std::string& name) {
  JobSpec spec;
  spec.name = name;
  spec.experiment_name = "Default";
  spec.command = Argv{{"/bin/true"}};
  return spec;
}

}  // namespace lockstep::test
