#include "common/domain/ranks/found.h"

namespace lockstep {

Word describe(FoundKind kind) {
  switch (kind) {
    case FoundKind::not_started: return {1, "not_started"};
    case FoundKind::waits: return {2, "waits"};
    case FoundKind::cycle: return {3, "cycle"};
    case FoundKind::stopped: return {4, "stopped"};
    case FoundKind::device_wait: return {5, "device_wait"};
    case FoundKind::peer_gone: return {6, "peer_gone"};
    case FoundKind::unequal_counts: return {7, "unequal_counts"};
    case FoundKind::missed_fence: return {8, "missed_fence"};
    case FoundKind::two_claims: return {9, "two_claims"};
    case FoundKind::left_early: return {10, "left_early"};
    case FoundKind::slow: return {11, "slow"};
    case FoundKind::different_versions: return {12, "different_versions"};
  }
  return {};
}
std::string_view to_string(FoundKind kind) { return describe(kind).word; }

Word describe(FoundVerdict verdict) {
  switch (verdict) {
    case FoundVerdict::notice: return {1, "notice"};
    case FoundVerdict::waits: return {2, "waits"};
    case FoundVerdict::hangs: return {3, "hangs"};
  }
  return {};
}
std::string_view to_string(FoundVerdict verdict) { return describe(verdict).word; }

Word describe(FoundAbout about) {
  switch (about) {
    case FoundAbout::named: return {1, "named"};
    case FoundAbout::rendezvous: return {2, "rendezvous"};
    case FoundAbout::lock: return {3, "lock"};
  }
  return {};
}
std::string_view to_string(FoundAbout about) { return describe(about).word; }

Word describe(OnHang what) {
  switch (what) {
    case OnHang::report: return {0, "report"};
    case OnHang::stacks: return {1, "stacks"};
    case OnHang::fail: return {2, "fail"};
    case OnHang::retry: return {3, "retry"};
  }
  return {};
}
std::string_view to_string(OnHang what) { return describe(what).word; }

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
