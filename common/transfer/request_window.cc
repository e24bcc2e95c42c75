#include "common/transfer/request_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <variant>

#include "common/io/net/link_state.h"
#include "common/io/process.h"
#include "common/transfer/refused.h"
#include "common/wire/messages/bulk.h"

namespace lockstep::transfer {
namespace {

constexpr Duration kLinkCheckedEach = seconds(1);
// The pause before a request that was refused for now is repeated; it doubles with each refusal.
constexpr Duration kFirstPause = milliseconds(50), kLongestPause = seconds(1);

Duration pause_after(int refusals) {
  Duration pause = kFirstPause;
  for (int i = 1; i < refusals && pause < kLongestPause; ++i) pause *= 2;
  return std::min<Duration>(pause, kLongestPause);
}

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace

// Starts at a random number, so that late answers to an earlier transfer match no request.
RequestWindow::RequestWindow(io::ClientSocket& socket, const TransferOptions& options)
    : socket_(socket),
      options_(options),
      next_sequence_(io::random_u64() >> 1),
      window_bytes_(options.window_bytes) {
  loop_.watch_socket(socket_.handle(), [] {});
}

RequestWindow::~RequestWindow() { loop_.unwatch_socket(socket_.handle()); }

Status RequestWindow::request(BulkMessage body, std::uint64_t weight, OnAnswer on_answer) {
  while (!open_.empty() && weight_ + weight > window_bytes_) TRY(turn());
  if (open_.empty()) {
    last_heard_ns_ = last_repeat_ns_ = now_ns();
    refused_.reset();
  }
  const std::uint64_t sequence = ++next_sequence_;
  Open& open = open_[sequence];
  open.bytes = wire::encode(BulkEnvelope{wire::kBulkVersion, sequence, 0, std::move(body),
                                         options_.of_attempt, options_.final_outputs});
  open.weight = weight;
  open.on_answer = std::move(on_answer);
  weight_ += weight;
  in_flight_ += weight;
  // While the connection is down, the request waits for the next repetition.
  if (!socket_.send_within(open.bytes, std::min(options_.send_within, options_.down_after)))
    TRY(check_link());
  return receive();
}

Status RequestWindow::drain(std::size_t count) {
  while (open_.size() > count) TRY(turn());
  return {};
}

Status RequestWindow::wait() {
  if (!open_.empty()) return turn();
  loop_.turn(Duration::max());
  return receive();
}

void RequestWindow::wake() {
  loop_.post([] {});
}

Status RequestWindow::turn() {
  const std::int64_t due = std::min(last_repeat_ns_ + options_.retry_after.count(), next_send_ns());
  Duration wait(std::max<std::int64_t>(due - now_ns(), 0));
  if (options_.down_after != Duration::max()) wait = std::min(wait, kLinkCheckedEach);
  loop_.turn(wait);
  TRY(receive());
  if (open_.empty()) return {};
  TRY(check_link());
  send_refused();
  return repeat_or_give_up();
}

Status RequestWindow::receive() {
  while (const auto bytes = socket_.receive()) {
    auto envelope = wire::decode_bulk(*bytes);
    if (!envelope) return envelope.error().within("the launcher's bulk socket");
    // The refusal names no request, so the launcher could not read one of ours.
    const auto* refused = std::get_if<BulkRefused>(&envelope->body);
    if (envelope->reply_to == 0 && refused != nullptr) return error_of(*refused);
    TRY(answered(envelope->reply_to, envelope->body));
  }
  return {};
}

Status RequestWindow::answered(std::uint64_t sequence, BulkMessage& answer) {
  const auto found = open_.find(sequence);
  if (found == open_.end()) return {};  // the reply came twice or late
  last_repeat_ns_ = now_ns();
  was_answered_ = true;
  if (const auto* refused = std::get_if<BulkRefused>(&answer)) {
    if (!refused->for_now || refused->no_space) return error_of(*refused);
    refused_for_now(found->second, *refused);
    return {};
  }
  last_heard_ns_ = last_repeat_ns_;
  refused_.reset();
  TRY_ASSIGN(const bool is_done, found->second.on_answer(answer));
  if (is_done) done(found);
  return {};
}

// Other transfers of the user may take long, so the request is repeated instead of failing.
void RequestWindow::refused_for_now(Open& open, const BulkRefused& refused) {
  refused_ = refused;
  if (open.send_at_ns) return;  // a repeated refusal
  ++open.refusals;
  open.send_at_ns = now_ns() + pause_after(open.refusals).count();
  in_flight_ -= open.weight;
  window_bytes_ /= 2;
}

void RequestWindow::done(std::map<std::uint64_t, Open>::iterator open) {
  const std::uint64_t weight = open->second.weight;
  weight_ -= weight;
  if (!open->second.send_at_ns) in_flight_ -= weight;
  window_bytes_ = std::min(options_.window_bytes, window_bytes_ + weight);
  open_.erase(open);
}

bool RequestWindow::may_send(const Open& open) const {
  return open.send_at_ns && (in_flight_ == 0 || in_flight_ + open.weight <= window_bytes_);
}

std::int64_t RequestWindow::next_send_ns() const {
  std::int64_t next = INT64_MAX;
  for (const auto& [sequence, open] : open_)
    if (may_send(open)) next = std::min(next, *open.send_at_ns);
  return next;
}

void RequestWindow::send_refused() {
  const std::int64_t now = now_ns();
  for (auto& [sequence, open] : open_) {
    if (!may_send(open) || *open.send_at_ns > now) continue;
    if (!socket_.send_within(open.bytes, options_.send_within)) return;
    open.send_at_ns.reset();
    in_flight_ += open.weight;
  }
}

Status RequestWindow::check_link() {
  if (options_.down_after == Duration::max()) return {};
  if (io::is_connected(socket_)) {
    down_since_ns_.reset();
    return {};
  }
  const std::int64_t now = now_ns();
  if (!down_since_ns_) down_since_ns_ = now;
  if (now - *down_since_ns_ < options_.down_after.count()) return {};
  return make_error(ErrorCode::unavailable,
                    fmt::format("the launcher at {} went away: there has been no connection to it "
                                "for {}",
                                io::endpoint_of(socket_), format_duration(options_.down_after)));
}

Status RequestWindow::repeat_or_give_up() {
  const std::int64_t now = now_ns();
  if (now - last_heard_ns_ >= options_.give_up_after.count()) {
    if (refused_) {
      Error busy = error_of(*refused_);
      busy.message += fmt::format(" (at each try for {})", format_duration(options_.give_up_after));
      return busy;
    }
    return make_error(ErrorCode::unavailable, fmt::format("the launcher did not answer for {}",
                                                          format_duration(options_.give_up_after)));
  }
  if (now - last_repeat_ns_ < options_.retry_after.count()) return {};
  for (const auto& [sequence, open] : open_) {
    if (open.send_at_ns) continue;
    if (!socket_.send_within(open.bytes, options_.send_within)) break;
  }
  last_repeat_ns_ = now_ns();
  return {};
}

}  // namespace lockstep::transfer
