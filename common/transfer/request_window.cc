#include "common/transfer/request_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "common/io/link_state.h"
#include "common/io/process.h"
#include "common/transfer/refused.h"
#include "common/wire/bulk.h"

namespace lockstep::transfer {
namespace {

constexpr Duration kLinkCheckedEach = seconds(1);

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace

// A random start, so that late answers to an earlier transfer on this socket answer nothing here.
RequestWindow::RequestWindow(io::ClientSocket& socket, const TransferOptions& options)
    : socket_(socket), options_(options), next_sequence_(io::random_u64() >> 1) {
  loop_.watch_socket(socket_.handle(), [] {});
}

RequestWindow::~RequestWindow() { loop_.unwatch_socket(socket_.handle()); }

Status RequestWindow::request(BulkMessage body, std::uint64_t weight, OnAnswer on_answer) {
  while (!open_.empty() && weight_ + weight > options_.window_bytes) TRY(turn());
  if (open_.empty()) last_heard_ns_ = last_repeat_ns_ = now_ns();
  const std::uint64_t sequence = ++next_sequence_;
  Open& open = open_[sequence];
  open.bytes = wire::encode(BulkEnvelope{wire::kBulkVersion, sequence, 0, std::move(body)});
  open.weight = weight;
  open.on_answer = std::move(on_answer);
  weight_ += weight;
  // Not sent = no connection now: it goes out with the next repetition.
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
  const std::int64_t due = last_repeat_ns_ + options_.retry_after.count();
  Duration wait(std::max<std::int64_t>(due - now_ns(), 0));
  if (options_.down_after != Duration::max()) wait = std::min(wait, kLinkCheckedEach);
  loop_.turn(wait);
  TRY(receive());
  if (open_.empty()) return {};
  TRY(check_link());
  return repeat_or_give_up();
}

Status RequestWindow::receive() {
  while (const auto bytes = socket_.receive()) {
    auto envelope = wire::decode_bulk(*bytes);
    if (!envelope) return envelope.error().within("the launcher's bulk socket");
    // A refusal that names no request: the launcher could not read one of ours.
    const auto* refused = std::get_if<BulkRefused>(&envelope->body);
    if (envelope->reply_to == 0 && refused != nullptr) return error_of(*refused);
    TRY(answered(envelope->reply_to, envelope->body));
  }
  return {};
}

Status RequestWindow::answered(std::uint64_t sequence, BulkMessage& answer) {
  const auto found = open_.find(sequence);
  if (found == open_.end()) return {};  // doubled or late
  last_heard_ns_ = last_repeat_ns_ = now_ns();
  was_answered_ = true;
  if (const auto* refused = std::get_if<BulkRefused>(&answer)) return error_of(*refused);
  TRY_ASSIGN(const bool done, found->second.on_answer(answer));
  if (!done) return {};
  weight_ -= found->second.weight;
  open_.erase(found);
  return {};
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
    return make_error(ErrorCode::unavailable, fmt::format("the launcher did not answer for {}",
                                                          format_duration(options_.give_up_after)));
  }
  if (now - last_repeat_ns_ < options_.retry_after.count()) return {};
  for (const auto& [sequence, open] : open_) {
    if (!socket_.send_within(open.bytes, options_.send_within)) break;
  }
  last_repeat_ns_ = now_ns();
  return {};
}

}  // namespace lockstep::transfer
