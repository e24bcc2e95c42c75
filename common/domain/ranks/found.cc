#include "common/domain/ranks/found.h"

namespace lockstep {

std::string_view to_string(FoundKind kind) {
  switch (kind) {
    case FoundKind::not_started: return "not_started";
    case FoundKind::waits: return "waits";
    case FoundKind::cycle: return "cycle";
    case FoundKind::stopped: return "stopped";
    case FoundKind::device_wait: return "device_wait";
    case FoundKind::peer_gone: return "peer_gone";
    case FoundKind::unequal_counts: return "unequal_counts";
    case FoundKind::missed_fence: return "missed_fence";
    case FoundKind::two_claims: return "two_claims";
    case FoundKind::left_early: return "left_early";
    case FoundKind::slow: return "slow";
    case FoundKind::different_versions: return "different_versions";
  }
  return "waits";
}

std::string_view to_string(FoundVerdict verdict) {
  switch (verdict) {
    case FoundVerdict::notice: return "notice";
    case FoundVerdict::waits: return "waits";
    case FoundVerdict::hangs: return "hangs";
  }
  return "notice";
}

std::string_view to_string(FoundAbout about) {
  switch (about) {
    case FoundAbout::named: return "named";
    case FoundAbout::rendezvous: return "rendezvous";
    case FoundAbout::lock: return "lock";
  }
  return "named";
}

std::string_view to_string(OnHang what) {
  switch (what) {
    case OnHang::report: return "report";
    case OnHang::stacks: return "stacks";
    case OnHang::fail: return "fail";
    case OnHang::retry: return "retry";
  }
  return "report";
}

std::string stacks_file(std::uint32_t attempt, int node_rank) {
  return "stacks_of_hang_" + std::to_string(attempt) + "_node_" + std::to_string(node_rank) +
         ".jsonl";
}

Result<Duration> hang_after_from(const std::string& text) {
  if (text == "off") return Duration::zero();
  const Duration time = parse_duration(text);
  if (time < Duration::zero())
    return make_error(ErrorCode::invalid_argument,
                      "'" + text + "' is not a time; write seconds, or 90s, 5m, 2h; off for never");
  return time;
}

Status validate(const HangPolicy& policy) {
  const Duration after = policy.after;
  if (after == Duration::zero() || (after >= kLeastHangAfter && after <= kMostHangAfter)) return {};
  static_assert(kLeastHangAfter == seconds(10) && kMostHangAfter == minutes(168 * 60));
  return make_error(ErrorCode::invalid_argument,
                    "lockstep.hang_after: must be 10s to 168h, or off");
}

std::optional<OnHang> on_hang_from(std::string_view word) {
  for (const auto what : {OnHang::report, OnHang::stacks, OnHang::fail, OnHang::retry})
    if (word == to_string(what)) return what;
  return std::nullopt;
}

}  // namespace lockstep
