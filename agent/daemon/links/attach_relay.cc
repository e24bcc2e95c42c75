#include "agent/daemon/links/attach_relay.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace lockstep::agent {
namespace {

constexpr Duration kLookEvery = seconds(5);
// How long an opened attachment waits for the bulk connection.
constexpr Duration kWaitsFor = seconds(20);
constexpr std::size_t kMostWaiting = 64;  // frames of at most 64 KiB each

}  // namespace

void AttachRelay::refuse(const AttachId& id, std::string message, bool for_now) {
  callbacks_.to_launcher({id, AttachRefused{std::move(message), for_now}});
}

void AttachRelay::forget(const AttachId& id) {
  known_.erase(id);
  let_go_of_link();
}

void AttachRelay::let_go_of_link() {
  if (!known_.empty() || !waiting_.empty()) return;
  look_at_ = Instant::never();
  callbacks_.hold_link(false);
}

void AttachRelay::open(const AttachFrame& frame, Instant now) {
  const AttachId& id = frame.attachment;
  const AttemptId& attempt = std::get<AttachOpen>(frame.body).attempt;
  const auto known = known_.find(id);
  if (known != known_.end() && known->second.attempt != attempt)
    return refuse(id, "the attachment is of another attempt", false);
  switch (callbacks_.standing(attempt)) {
    case Standing::running:
      if (known == known_.end() && known_.size() >= kMaxAttachmentsOfNode) {
        refuse(id,
               fmt::format("{} attachments are open on this node, which is the most",
                           kMaxAttachmentsOfNode),
               false);
        break;
      }
      known_[id] = {attempt, now};
      return callbacks_.to_runner(attempt, frame);
    case Standing::starting: refuse(id, "the node is preparing the job", true); break;
    case Standing::absent:
      refuse(id, fmt::format("{} does not run on this node any more", to_string(attempt)), false);
      break;
  }
  forget(id);
}

void AttachRelay::from_launcher(const AttachFrame& frame, Instant now) {
  const AttachId& id = frame.attachment;
  if (std::holds_alternative<AttachOpen>(frame.body)) {
    callbacks_.hold_link(true);
    look_at_ = std::min(look_at_, now + kLookEvery);
    if (callbacks_.is_link_up()) return open(frame, now);
    std::erase_if(waiting_, [&id](const Waiting& one) { return one.frame.attachment == id; });
    if (waiting_.size() < kMostWaiting) waiting_.push_back({frame, now});
    return;
  }
  if (std::holds_alternative<AttachClose>(frame.body))
    std::erase_if(waiting_, [&id](const Waiting& one) { return one.frame.attachment == id; });
  const auto found = known_.find(id);
  if (found == known_.end()) return;
  found->second.heard = now;
  callbacks_.to_runner(found->second.attempt, frame);
  if (std::holds_alternative<AttachClose>(frame.body)) forget(id);
}

// Passes a runner's frame on, if it is for an attachment to the runner's own attempt.
void AttachRelay::from_runner(const AttemptId& attempt, const AttachFrame& frame) {
  const auto found = known_.find(frame.attachment);
  if (found == known_.end() || found->second.attempt != attempt) return;
  callbacks_.to_launcher(frame);
  if (std::holds_alternative<AttachRefused>(frame.body)) forget(frame.attachment);
}

void AttachRelay::on_link_up(Instant now) {
  for (const auto& [id, known] : known_) callbacks_.to_launcher({id, AttachAlive{}});
  for (const Waiting& waiting : std::exchange(waiting_, {}))
    if (now - waiting.came < kWaitsFor) open(waiting.frame, now);
  let_go_of_link();
}

void AttachRelay::gone(const AttemptId& attempt) {
  std::vector<AttachId> ids;
  for (const auto& [id, known] : known_)
    if (known.attempt == attempt) ids.push_back(id);
  for (const AttachId& id : ids) {
    refuse(id, fmt::format("{} has ended on this node", to_string(attempt)), false);
    forget(id);
  }
}

Instant AttachRelay::next_deadline() const { return look_at_; }

void AttachRelay::tick(Instant now) {
  if (now < look_at_) return;
  look_at_ = now + kLookEvery;
  std::vector<AttachId> silent;
  for (const auto& [id, known] : known_)
    if (now - known.heard >= kAttachSilence) silent.push_back(id);
  for (const AttachId& id : silent) forget(id);
  std::erase_if(waiting_, [now](const Waiting& one) { return now - one.came >= kWaitsFor; });
  let_go_of_link();
}

}  // namespace lockstep::agent
