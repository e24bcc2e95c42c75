#include "launcher/cli/link/connection.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "common/base/quoted_name.h"
#include "common/domain/messages/bulk_protocol.h"
#include "common/domain/messages/client_limits.h"
#include "common/io/clock.h"
#include "common/io/net/link_state.h"
#include "common/io/net/reach.h"
#include "common/wire/messages/bulk.h"
#include "common/wire/messages/control.h"
#include "launcher/cli/link/refused_key.h"
#include "launcher/cli/terminal/output.h"

namespace lockstep::cli {

namespace {

constexpr int kBulkPerTurn = 16;
// How long the bulk socket may take to answer, if the control socket does.
constexpr Duration kAnswersWithin = seconds(7);
constexpr Duration kLook = seconds(1);
constexpr std::size_t kHeadBytes = 64;  // sequence and deadline, which differ in each try

// Callers block these signals while a request must not be interrupted. Waiting for a slow disk may
// be interrupted.
bool is_interrupted() {
  sigset_t pending;
  ::sigpending(&pending);
  return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
         sigismember(&pending, SIGHUP) == 1;
}

Status check_size(const ClientRequest& request) {
  const std::size_t bytes = wire::encode(Envelope<ClientRequest>{.body = request}).size();
  if (bytes + kHeadBytes <= kMaxUserMessageBytes) return {};
  return make_error(
      ErrorCode::resource_exhausted,
      fmt::format("the request has {} bytes, but the launcher takes at most {}; put large data "
                  "into the job's code folder, which is uploaded separately",
                  bytes, kMaxUserMessageBytes));
}

// A request, from its first sending to its reply.
struct Question {
  std::uint64_t first = 0;  // the sequence of the first sending; each sending has its own
  Instant end;     // the end of the wait; later when the launcher reports that the request waits
  Instant repeat;  // the time at which it is sent again
  std::optional<ClientReply> reply;
  std::optional<Error> broken;
  bool is_over() const { return reply || broken; }
};

}  // namespace

struct Connection::Impl {
  using Link = io::ClientSocket::Link;

  explicit Impl(io::KeyPair k)
      : keys(std::move(k)),
        transport(loop, [](const std::string&, const PublicKey&) { return false; }) {}
  ~Impl() { unwatch(); }

  void unwatch() {
    if (!watching) return;
    loop.unwatch_socket(control->handle());
    loop.unwatch_socket(bulk->handle());
    watching = false;
  }
  Status watch() {
    TRY(dial_bulk());
    loop.watch_socket(control->handle(), [this] { drain_control(); });
    loop.watch_socket(bulk->handle(), [this] { drain_bulk(); });
    watching = true;
    if (links_watched) return {};
    links_watched = true;
    TRY(watch_link(*control, control_unsent, &Listener::on_control_up, &Listener::on_control_down));
    return watch_link(*bulk, bulk_unsent, &Listener::on_bulk_up, nullptr);
  }
  Status watch_link(io::ClientSocket& socket, bool& unsent, std::function<void()> Listener::*on_up,
                    std::function<void()> Listener::*on_down) {
    return socket.watch_link(loop, [this, &unsent, on_up, on_down](Link link) {
      if (link != Link::up) {
        unsent = true;
        if (on_down != nullptr && listener.*on_down) (listener.*on_down)();
        return;
      }
      const bool tell = unsent && listener.*on_up;
      unsent = false;
      if (tell) (listener.*on_up)();
    });
  }
  void drain_control();
  // Takes a reply. Returns true if it only reports that the request waits.
  bool take_wait(const ClientReply& reply);
  void take_replies(Question& asked);
  Status send_once(const ClientRequest& request, Duration left);
  void drain_bulk();
  Status dial();
  Status dial_bulk();
  Error explained(Error error);
  std::string why_no_bulk();

  Endpoint endpoint;
  bool is_reached = false;  // a request was sent over this connection
  io::KeyPair keys;
  std::string when_down;
  std::string of_attempt;
  io::EventLoop loop;
  io::Transport transport;
  io::SystemClock clock;
  std::optional<io::ClientSocket> control;
  std::optional<io::ClientSocket> bulk;
  std::uint64_t sequence = 0;
  bool watching = false;
  bool links_watched = false;
  // set when something was lost, so that the listener is called when the link is up
  bool control_unsent = false;
  bool bulk_unsent = false;
  Listener listener;
  std::function<void(Duration)> tell_of_slow_disk;
  std::function<void(const std::string&)> tell_of_data;
};

Status Connection::Impl::dial() {
  io::SocketLimits limits;
  limits.max_message_bytes = static_cast<std::int64_t>(kMaxControlMessageBytes);
  TRY_ASSIGN(auto new_control, io::ClientSocket::connect(transport, endpoint.control,
                                                         endpoint.public_key, keys, limits));
  control.emplace(std::move(new_control));
  bulk.reset();
  links_watched = false;
  return {};
}

Status Connection::Impl::dial_bulk() {
  if (bulk) return {};
  io::SocketLimits limits;
  limits.max_message_bytes = static_cast<std::int64_t>(kMaxBulkMessageBytes) + (1 << 20);
  TRY_ASSIGN(auto new_bulk, io::ClientSocket::connect(transport, endpoint.bulk, endpoint.public_key,
                                                      keys, limits));
  bulk.emplace(std::move(new_bulk));
  return {};
}

void Connection::Impl::drain_control() {
  while (auto bytes = control->receive()) {
    const auto envelope = wire::decode_envelope<ClientReply>(*bytes);
    if (!envelope) continue;
    take_wait(envelope->body);
    if (listener.on_control) listener.on_control(*envelope);
  }
}

bool Connection::Impl::take_wait(const ClientReply& reply) {
  if (const auto* disk = std::get_if<WaitsForDisk>(&reply)) {
    if (tell_of_slow_disk) tell_of_slow_disk(disk->slow_for);
    return true;
  }
  const auto* data = std::get_if<WaitsForData>(&reply);
  if (data != nullptr && tell_of_data) tell_of_data(data->what);
  return data != nullptr;
}

// Takes messages of the bulk socket. Handling a message may write, and a slow reader blocks that.
// So only a few are taken per turn, and answers and signals are handled in between.
void Connection::Impl::drain_bulk() {
  for (int taken = 0; taken < kBulkPerTurn; ++taken) {
    const auto bytes = bulk->receive();
    if (!bytes) return;
    const auto envelope = wire::decode_bulk(*bytes);
    if (envelope && listener.on_bulk) listener.on_bulk(*envelope);
  }
}

Connection::Connection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Connection::~Connection() = default;

Result<std::unique_ptr<Connection>> Connection::open(const Endpoint& endpoint,
                                                     const io::KeyPair& keys, std::string when_down,
                                                     std::string of_attempt) {
  auto impl = std::make_unique<Impl>(keys);
  impl->when_down = std::move(when_down);
  impl->of_attempt = std::move(of_attempt);
  impl->sequence = io::random_u64() >> 16;
  impl->endpoint = endpoint;
  TRY(impl->dial());
  return std::unique_ptr<Connection>(new Connection(std::move(impl)));
}

io::EventLoop& Connection::loop() { return impl_->loop; }

// The bulk socket. If the launcher answers on neither socket, the transfer waits for it.
Result<io::ClientSocket*> Connection::bulk() {
  Impl& me = *impl_;
  TRY(me.dial_bulk());
  if (!me.is_reached || me.watching || io::wait_until_connected(*me.bulk, kAnswersWithin) ||
      !io::is_connected(*me.control))
    return &*me.bulk;
  if (const std::string why = me.why_no_bulk(); !why.empty())
    return make_error(ErrorCode::unavailable, why);
  return &*me.bulk;
}

// "" if the port can be reached.
std::string Connection::Impl::why_no_bulk() {
  const std::string trouble = io::dial_trouble(endpoint.bulk, kLook);
  if (trouble.empty()) return "";
  return fmt::format(
      "the launcher answers at {}, but there is no connection to {}, its port for files and logs: "
      "{}; let firewalls pass the launcher's port and the next two",
      endpoint.control, endpoint.bulk, trouble);
}

// Adds what to do to an error, since the reader may be the person who can act.
Error Connection::Impl::explained(Error error) {
  if (error.code == ErrorCode::unavailable && !when_down.empty()) error.message += "; " + when_down;
  if (error.code != ErrorCode::permission_denied) return error;
  if (!of_attempt.empty()) {
    error.message += fmt::format(
        "; this is the credential of {}, which counts until the attempt ends; use your own key",
        printable(of_attempt));
    return error;
  }
  return why_refused(std::move(error), standing_of_key(transport, endpoint, keys, ++sequence),
                     keys);
}

void Connection::on_data_wait(std::function<void(const std::string&)> tell) {
  impl_->tell_of_data = std::move(tell);
}
void Connection::on_slow_disk(std::function<void(Duration)> tell) {
  impl_->tell_of_slow_disk = std::move(tell);
}

// Handles messages on the control socket while `asked` waits for its reply.
void Connection::Impl::take_replies(Question& asked) {
  while (auto bytes = control->receive()) {
    auto envelope = wire::decode_envelope<ClientReply>(*bytes);
    if (!envelope) {
      asked.broken = envelope.error().within("the reply of " + endpoint.control);
    } else if (envelope->reply_to >= asked.first && envelope->reply_to <= sequence &&
               !asked.reply) {
      if (!take_wait(envelope->body)) {
        asked.reply = std::move(envelope->body);
        continue;
      }
      const Instant now = clock.now();
      asked.end = std::max(asked.end, now + kWaitsForDiskLasts);
      asked.repeat = std::max(asked.repeat, now + kWaitsForDiskLasts);
      if (is_interrupted())
        asked.broken = make_error(ErrorCode::unavailable,
                                  "interrupted while waiting for the launcher; the request may "
                                  "still be carried out");
    } else if (listener.on_control) {
      listener.on_control(*envelope);
    }
  }
}

Status Connection::Impl::send_once(const ClientRequest& request, Duration left) {
  Envelope<ClientRequest> envelope;
  envelope.sequence = ++sequence;
  envelope.deadline_ms = std::max<std::int64_t>(1, left.count() / 1'000'000);
  envelope.body = request;
  envelope.takes_waits = true;
  const Status sent =
      control->send_within(wire::encode(envelope), std::min(left, Duration(seconds(5))));
  if (!sent) return explained(sent.error());
  is_reached = true;
  return {};
}

Result<ClientReply> Connection::ask(const ClientRequest& request, Duration timeout,
                                    Duration repeat_after,
                                    std::optional<io::ProcessIdentity> until_gone) {
  Impl& me = *impl_;
  TRY(check_size(request));
  Question asked;
  asked.first = me.sequence + 1;
  asked.end = me.clock.now() + timeout;
  io::EventLoop waiting;
  waiting.watch_socket(me.control->handle(), [&] { me.take_replies(asked); });
  std::optional<io::Fd> gone;
  if (until_gone) {
    TRY_ASSIGN(gone, io::open_process(*until_gone));
    waiting.watch(gone->get(), io::EventLoop::Interest::read, [&] {
      if (!asked.broken)
        asked.broken = make_error(ErrorCode::unavailable, "the launcher has ended");
    });
  }
  while (!asked.is_over()) {
    const Instant now = me.clock.now();
    if (now >= asked.end)
      return make_error(ErrorCode::unavailable, "the launcher did not answer within " +
                                                    format_duration(timeout) +
                                                    "; see `lockstep status`");
    TRY(me.send_once(request, asked.end - now));
    asked.repeat = std::min(asked.end, me.clock.now() + repeat_after);
    while (!asked.is_over() && me.clock.now() < asked.repeat)
      waiting.turn(asked.repeat - me.clock.now());
  }
  if (asked.broken) return *asked.broken;
  if (auto* refused = std::get_if<Refused>(&*asked.reply))
    return make_error(refused->code, std::move(refused->message));
  return std::move(*asked.reply);
}

Status Connection::listen(Listener listener) {
  impl_->listener = std::move(listener);
  if (!impl_->watching) return impl_->watch();
  return {};
}

void Connection::stop_listening() {
  impl_->listener = {};
  impl_->unwatch();
}

std::uint64_t Connection::send(ClientRequest request) {
  Envelope<ClientRequest> envelope;
  envelope.sequence = ++impl_->sequence;
  envelope.body = std::move(request);
  envelope.takes_waits = true;
  if (!impl_->control->send(wire::encode(envelope))) impl_->control_unsent = true;
  return envelope.sequence;
}

std::uint64_t Connection::send_bulk(BulkEnvelope envelope) {
  envelope.sequence = ++impl_->sequence;
  if (!impl_->bulk->send(wire::encode(envelope))) impl_->bulk_unsent = true;
  return envelope.sequence;
}

Status Connection::reopen(const Endpoint& endpoint) {
  const bool watched = impl_->watching;
  impl_->unwatch();
  impl_->endpoint = endpoint;
  TRY(impl_->dial());
  if (watched) return impl_->watch();
  return {};
}

}  // namespace lockstep::cli
