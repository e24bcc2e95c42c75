#pragma once
// The client's end of a launcher: the control socket, the bulk socket once it is needed, and
// requests that are answered or fail within a time. Requests are idempotent and repeated until
// then. It decides nothing about jobs.

#include <functional>
#include <memory>
#include <optional>

#include "common/domain/messages/client_protocol.h"
#include "common/io/event_loop.h"
#include "common/io/net/transport.h"
#include "launcher/cli/link/endpoint.h"

namespace lockstep {
struct BulkEnvelope;
}

namespace lockstep::cli {

class Connection {
 public:
  // Opens a connection. `when_down`: advice for the user, appended to the error when nobody answers
  // at the endpoint. `of_attempt`: "attempt 2 of job x" if the keys are this attempt's, for the
  // error when they no longer count.
  static Result<std::unique_ptr<Connection>> open(const Endpoint& endpoint, const io::KeyPair& keys,
                                                  std::string when_down = "",
                                                  std::string of_attempt = "");
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  io::EventLoop& loop();
  // The bulk socket for common/transfer, while nothing is followed. The first call dials, without
  // waiting.
  Result<io::ClientSocket*> bulk();

  // Sets the function that is called about once a second while a request waits because the
  // launcher's disk is slow, with how long a write has taken.
  void on_slow_disk(std::function<void(Duration)> tell);

  // Sets the function that is called about once a second while a request waits for data that the
  // launcher fetches.
  void on_data_wait(std::function<void(const std::string& what)> tell);

  // The reply, or the launcher's refusal, or unavailable: after `timeout`, or later while the
  // launcher says that the request waits; the last also, at once, when `until_gone`
  // ends: its last words may be lost with its connection.
  Result<ClientReply> ask(const ClientRequest& request, Duration timeout = seconds(20),
                          Duration repeat_after = seconds(2),
                          std::optional<io::ProcessIdentity> until_gone = {});
  // The same for a request with one kind of reply.
  template <typename Reply>
  Result<Reply> ask_for(const ClientRequest& request, Duration timeout = seconds(20),
                        Duration repeat_after = seconds(2)) {
    TRY_ASSIGN(ClientReply reply, ask(request, timeout, repeat_after));
    if (auto* good = std::get_if<Reply>(&reply)) return std::move(*good);
    return make_error(ErrorCode::internal, "the launcher sent an unexpected kind of reply");
  }

  // Gets everything that comes on either socket, for followers.
  struct Listener {
    std::function<void(const Envelope<ClientReply>&)> on_control;
    std::function<void(const BulkEnvelope&)> on_bulk;
    // The link came up after it broke, or after something could not be sent yet: the other end
    // knows nothing of what we follow.
    std::function<void()> on_control_up;
    std::function<void()> on_bulk_up;
    std::function<void()> on_control_down = {};  // the link broke; dialling goes on
  };
  Status listen(Listener listener);
  void stop_listening();
  // Sends without waiting, and returns the sequence; a request that cannot be sent now is dropped
  // (the caller repeats it).
  std::uint64_t send(ClientRequest request);
  std::uint64_t send_bulk(BulkEnvelope envelope);

  // Opens new sockets to `endpoint`; listeners stay.
  Status reopen(const Endpoint& endpoint);

 private:
  struct Impl;
  explicit Connection(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::cli
