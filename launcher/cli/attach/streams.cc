#include "launcher/cli/attach/streams.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::cli {

namespace {

// the time without an answer before the opening is repeated; doubles each time
constexpr Duration kAskAgain = seconds(1);
constexpr Duration kAskAgainAtMost = seconds(8);
constexpr Duration kBetweenRepairs = milliseconds(50);
constexpr Duration kRetry = milliseconds(250);  // the pause after a refusal that may pass
// how long after the last byte it is confirmed, if nothing follows
constexpr Duration kConfirmAfter = seconds(1);
// More bytes than a runner sends that keeps to its window.
constexpr std::size_t kMostWaiting = 2 * kAttachWindow;

Duration doubled(Duration wait) { return std::min(2 * wait, kAskAgainAtMost); }

}  // namespace

AttachStreams::AttachStreams(AttachOpen opening, Instant now, Duration open_within)
    : opening_(std::move(opening)),
      give_up_at_(open_within == Duration::max() ? Instant::never() : now + open_within),
      heard_at_(now),
      ask_again_(kAskAgain),
      taken_within_(kAskAgain) {
  open(now);
}

// ---- openings ----------------------------------------------------------------------------------

void AttachStreams::open(Instant now) {
  if (is_over()) return;
  opening_.have_output = incoming_[0].have;
  opening_.have_error = incoming_[1].have;
  opening_.again = opened_.has_value();
  if (opened_) opening_.attempt = opened_->attempt;
  frames_.emplace_back(opening_);
  is_asked_ = true;
  asked_at_ = now;
  retry_at_ = Instant::never();
  alive_at_ = now + kAttachAliveEvery;
}

// Asks for lost frames. A burst of frames after a gap causes only one request.
void AttachStreams::repair(Instant now) {
  if (is_asked_ || is_over()) return;
  if (now - asked_at_ < kBetweenRepairs) {
    retry_at_ = std::min(retry_at_, asked_at_ + kBetweenRepairs);
    return;
  }
  open(now);
}

void AttachStreams::on_link_up(Instant now) {
  ask_again_ = kAskAgain;
  open(now);
}

void AttachStreams::on(const AttachOpened& opened, Instant now) {
  is_asked_ = false;
  ask_again_ = kAskAgain;
  waits_for_.clear();
  opened_ = opened;
  take(std::min(opened.have_input, base_ + kept_.size()), now);
  sent_ = base_;
  end_sent_ = false;
  if (is_terminal()) {
    const auto* program = std::get_if<AttachProgram>(&opening_.order);
    frames_.emplace_back(
        AttachResize{program ? program->size : std::get<AttachMain>(opening_.order).size});
  }
  for (const int signal : signals_) frames_.emplace_back(AttachNotify{signal});
  signals_.clear();
  send_input(now);
}

void AttachStreams::on(const AttachRefused& refused, Instant now) {
  is_asked_ = false;
  if (!refused.for_now) return give_up(ErrorCode::conflict, refused.message);
  waits_for_ = refused.message;
  retry_at_ = std::min(retry_at_, now + kRetry);
}

void AttachStreams::give_up(ErrorCode code, std::string message) {
  refused_ = make_error(code, std::move(message));
}

// ---- to the program ----------------------------------------------------------------------------

std::size_t AttachStreams::room() const {
  const bool is_taken = opened_ && !end_ && !input_ends_ && !is_over();
  return is_taken ? kAttachWindow - std::min(kept_.size(), kAttachWindow) : 0;
}

void AttachStreams::feed(std::string_view bytes, Instant now) {
  kept_.append(bytes);
  send_input(now);
}

void AttachStreams::end_input(Instant now) {
  input_ends_ = true;
  send_input(now);
  used(now);
}

void AttachStreams::send_input(Instant now) {
  if (!opened_ || end_ || is_over()) return;
  const std::uint64_t last = base_ + kept_.size();
  const bool is_new = sent_ < last;
  while (sent_ < last || (input_ends_ && !end_sent_)) {
    AttachData data;
    data.stream = AttachStream::input;
    data.offset = sent_;
    data.bytes = kept_.substr(sent_ - base_, kMaxAttachData);
    sent_ += data.bytes.size();
    data.end = end_sent_ = input_ends_ && sent_ == last;
    frames_.emplace_back(std::move(data));
  }
  if (is_new && taken_by_ == Instant::never()) taken_by_ = now + taken_within_;
}

void AttachStreams::on(const AttachTaken& taken, Instant now) {
  if (taken.stream == AttachStream::input && taken.offset <= base_ + kept_.size())
    take(taken.offset, now);
}

void AttachStreams::take(std::uint64_t offset, Instant now) {
  if (offset <= base_) return;
  kept_.erase(0, offset - base_);
  base_ = offset;
  sent_ = std::max(sent_, base_);
  taken_within_ = kAskAgain;
  taken_by_ = sent_ > base_ ? now + taken_within_ : Instant::never();
  used(now);
}

void AttachStreams::resize(TerminalSize size) {
  if (auto* program = std::get_if<AttachProgram>(&opening_.order)) program->size = size;
  if (auto* main = std::get_if<AttachMain>(&opening_.order)) main->size = size;
  if (opened_ && !is_over()) frames_.emplace_back(AttachResize{size});
}

void AttachStreams::notify(int signal) {
  if (is_over()) return;
  if (opened_)
    frames_.emplace_back(AttachNotify{signal});
  else
    signals_.push_back(signal);
}

void AttachStreams::close() {
  if (is_closed_) return;
  is_closed_ = true;
  frames_.emplace_back(AttachClose{});
}

// ---- from the program --------------------------------------------------------------------------

AttachStreams::Incoming* AttachStreams::incoming(AttachStream stream) {
  switch (stream) {
    case AttachStream::input: return nullptr;
    case AttachStream::output: return &incoming_[0];
    case AttachStream::error: return &incoming_[1];
  }
  return nullptr;
}

const AttachStreams::Incoming* AttachStreams::incoming(AttachStream stream) const {
  return const_cast<AttachStreams*>(this)->incoming(stream);
}

void AttachStreams::on(const AttachData& data, Instant now) {
  Incoming* in = incoming(data.stream);
  if (in == nullptr) return;
  if (data.offset > in->have) return repair(now);
  used(now);
  const std::uint64_t had = in->have - data.offset;  // how many of these bytes are already here
  if (data.bytes.size() <= had) return acknowledge(data.stream, !data.bytes.empty(), now);
  if (in->waiting.size() >= kMostWaiting) return;
  in->waiting.append(data.bytes, had);
  in->have = data.offset + data.bytes.size();
}

std::string_view AttachStreams::waiting(AttachStream stream) const {
  const Incoming* in = incoming(stream);
  return in == nullptr ? std::string_view() : std::string_view(in->waiting);
}

void AttachStreams::written(AttachStream stream, std::size_t bytes, Instant now) {
  Incoming* in = incoming(stream);
  if (in == nullptr) return;
  in->waiting.erase(0, bytes);
  in->written = in->have - in->waiting.size();
  acknowledge(stream, false, now);
}

// Acknowledges bytes. `again`: the runner repeats bytes that are here, so an acknowledgement was
// lost.
void AttachStreams::acknowledge(AttachStream stream, bool again, Instant now) {
  Incoming& in = *incoming(stream);
  const std::uint64_t new_bytes = in.written - in.acked;
  const bool is_due = new_bytes > 0 && (in.waiting.empty() || new_bytes >= kAttachWindow / 4);
  if ((!is_due && !again) || is_closed_) return;
  in.acked = in.written;
  frames_.emplace_back(AttachTaken{stream, in.written});
  used(now);
}

void AttachStreams::on(const AttachEnd& end, Instant now) {
  end_ = end;
  if (lacks_output()) repair(now);
}

bool AttachStreams::lacks_output() const {
  return end_ && (incoming_[0].have < end_->output || incoming_[1].have < end_->error);
}

bool AttachStreams::writes() const {
  return !incoming_[0].waiting.empty() || !incoming_[1].waiting.empty();
}

const AttachEnd* AttachStreams::ended() const {
  return end_ && !lacks_output() && !writes() ? &*end_ : nullptr;
}

bool AttachStreams::is_terminal() const {
  const auto* program = std::get_if<AttachProgram>(&opening_.order);
  return program != nullptr ? program->terminal
                            : std::holds_alternative<AttachMain>(opening_.order);
}

// ---- time --------------------------------------------------------------------------------------

void AttachStreams::on_frame(const AttachBody& body, Instant now) {
  if (is_over()) return;
  heard_at_ = now;
  std::visit(
      [this, now](const auto& frame) {
        if constexpr (requires { on(frame, now); }) on(frame, now);
      },
      body);
}

// The last frame of a burst may be lost, and no later frame would show that.
void AttachStreams::used(Instant now) { confirm_at_ = now + kConfirmAfter; }

// Keeps the attachment alive. An opening requests everything that may be lost. While bytes arrive
// it is not sent: they would be sent twice, and the next frame shows a gap anyway.
void AttachStreams::keep_alive(Instant now) {
  alive_at_ = now + kAttachAliveEvery;
  if (confirm_at_ == Instant::never() && !writes()) return repair(now);
  frames_.emplace_back(AttachAlive{});
}

void AttachStreams::tick(Instant now) {
  if (is_over()) return;
  if (!opened_ && now >= give_up_at_)
    return give_up(ErrorCode::unavailable,
                   waits_for_.empty() ? "neither the launcher nor the node has answered; see "
                                        "`lockstep status`"
                                      : waits_for_);
  if (is_asked_ && now >= asked_at_ + ask_again_) {
    ask_again_ = doubled(ask_again_);
    open(now);
  }
  if (now >= retry_at_) {
    retry_at_ = Instant::never();
    repair(now);
  }
  if (!opened_) return;
  if (now >= taken_by_) {
    taken_within_ = doubled(taken_within_);
    taken_by_ = now + taken_within_;
    repair(now);
  }
  if (now >= confirm_at_) {
    confirm_at_ = writes() ? now + kConfirmAfter : Instant::never();
    if (!writes()) repair(now);
  }
  if (now - heard_at_ >= kAttachAskAfter) repair(now);
  if (now >= alive_at_) keep_alive(now);
}

Instant AttachStreams::next_deadline() const {
  if (is_over()) return Instant::never();
  Instant next = std::min(retry_at_, is_asked_ ? asked_at_ + ask_again_ : Instant::never());
  if (!opened_) return std::min(next, give_up_at_);
  next = std::min({next, taken_by_, confirm_at_, alive_at_});
  return is_asked_ ? next : std::min(next, heard_at_ + kAttachAskAfter);
}

std::vector<AttachBody> AttachStreams::take_frames() { return std::exchange(frames_, {}); }

}  // namespace lockstep::cli
