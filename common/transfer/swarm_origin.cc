#include "common/transfer/swarm_impl.h"

namespace lockstep::transfer {

void Swarm::ask_origin(std::size_t unit) {
  asked_of_origin_.insert(unit);
  for (const auto& blob : units_[unit].blobs)
    if (!into_.has(blob.digest)) origin_->ask(blob);
}

Status Swarm::hear_origin(Instant now) {
  TRY_ASSIGN(const Origin::News news, origin_->poll());
  if (news.bytes > 0) came(kLauncher, news.bytes, now);
  std::erase_if(asked_of_origin_, [this](std::size_t unit) {
    if (!is_here(units_[unit])) return false;
    finish(unit);
    return true;
  });
  if (!news.is_gone || is_origin_gone_) return {};
  is_origin_gone_ = true;
  asked_of_origin_.clear();
  plan_->close_launcher(now);
  return {};
}

// Peers that get nothing either do not count: they may be waiting for this node.
bool Swarm::is_over(Instant now) const {
  return is_origin_gone_ &&
         (!plan_->has_sources() || now - plan_->last_progress() >= 2 * site_.limits.timeout);
}

}  // namespace lockstep::transfer
