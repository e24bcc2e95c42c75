#include "launcher/cli/link/refused_key.h"

#include <fmt/format.h>

#include <string>

#include "common/grammar/key_word.h"
#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "common/io/process.h"
#include "common/wire/messages/control.h"
#include "launcher/cli/terminal/output.h"

namespace lockstep::cli {

namespace {

constexpr Duration kStandingTimeout = seconds(3);

}  // namespace

KeyStanding standing_of_key(io::Transport& transport, const Endpoint& endpoint,
                            const io::KeyPair& keys, std::uint64_t sequence) {
  KeyStanding standing;
  if (endpoint.join.empty()) return standing;
  io::SocketLimits limits;
  limits.max_message_bytes = static_cast<std::int64_t>(kMaxJoinMessageBytes);
  auto socket =
      io::ClientSocket::connect(transport, endpoint.join, endpoint.public_key, keys, limits);
  Envelope<JoinMessage> question;
  question.sequence = sequence;
  question.body = AskAboutKey{};
  if (!socket || !socket->send_within(wire::encode(question), kStandingTimeout)) return standing;
  bool is_answered = false;
  io::EventLoop waiting;
  waiting.watch_socket(socket->handle(), [&] {
    while (const auto bytes = socket->receive()) {
      const auto reply = wire::decode_envelope<JoinReply>(*bytes);
      is_answered = true;
      if (!reply) continue;
      if (const auto* said = std::get_if<KeyStanding>(&reply->body)) standing = *said;
    }
  });
  io::SystemClock clock;
  const Instant end = clock.now() + kStandingTimeout;
  while (!is_answered && clock.now() < end) waiting.turn(end - clock.now());
  waiting.unwatch_socket(socket->handle());
  return standing;
}

Error why_refused(Error error, const KeyStanding& standing, const io::KeyPair& keys) {
  const std::string file = keys.path.empty() ? "the key file" : keys.path;
  const std::string anew = fmt::format(
      "It is never accepted again: move the file away (mv {0} {0}.revoked), make a new key with "
      "`lockstep user key show`, and ask an admin for `lockstep user ",
      file);
  const std::string fact = to_string(standing);
  switch (standing.kind) {
    case KeyStanding::Kind::unknown:
    case KeyStanding::Kind::valid: break;
    case KeyStanding::Kind::revoked:
      error.message = fmt::format("{} ({}). {}key add {} NEWKEY`", printable(fact), file, anew,
                                  printable(standing.user.empty() ? "NAME" : standing.user));
      return error;
    case KeyStanding::Kind::user_removed:
      error.message = fmt::format(
          "{} ({}). {}add NAME --key NEWKEY`; a user who is added again is a new one, without the "
          "jobs, names and secrets of the first",
          printable(fact), file, anew);
      return error;
    case KeyStanding::Kind::line_removed:
      error.message =
          fmt::format("{}; ask an admin for `lockstep user key add {} {}`", printable(fact),
                      printable(standing.user), key_word(keys.public_key));
      return error;
  }
  const auto user = io::current_user();
  const std::string name = user ? user->name : "NAME";
  error.message += fmt::format(
      "; ask an admin of the launcher to add you with `lockstep user add {0} --key {1}`; if the "
      "launcher has no admin yet, add this line to keys/authorized_users in the launcher's home: "
      "{0} {1}",
      name, key_word(keys.public_key));
  return error;
}

}  // namespace lockstep::cli
