#include "runner/watch/compare/notices.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace lockstep::runner {
namespace {

using Named = std::vector<int>;

template <typename Want>
Named named_where(const GangNow& gang, Want want) {
  Named named;
  for (std::size_t i = 0; i < gang.size(); ++i)
    if (gang[i].standing != nullptr && gang[i].role != Role::ended && want(gang[i]))
      named.push_back(static_cast<int>(i));
  return named;
}

Evidence notice_of(FoundKind kind, const GangNow& gang, const Named& named, Duration lasting) {
  Evidence notice;
  notice.found.kind = kind;
  notice.found.ranks = found_ranks(gang, named);
  notice.found.lasting = lasting;
  return notice;
}

void add_if_any(EvidenceList& list, FoundKind kind, const GangNow& gang, const Named& named,
                bool needs_stacks = false) {
  if (named.empty()) return;
  Duration lasting = Duration::zero();
  for (const int rank : named)
    lasting = std::max(lasting, gang[static_cast<std::size_t>(rank)].still);
  list.push_back(notice_of(kind, gang, named, lasting));
  list.back().needs_stacks = needs_stacks;
}

// Evidence about ranks that have not started. A rank that tries to connect for this long is
// reported even if no rank has met another: it may be the cause.
std::optional<Evidence> not_started(const GangNow& gang, const GangShape& shape,
                                    const FirstTimes& first, Instant now) {
  Named named, waiting;
  Duration lasting = Duration::zero();
  for (std::size_t i = 0; i < gang.size(); ++i) {
    const RankNow& one = gang[i];
    if (one.standing == nullptr || one.role == Role::ended) continue;
    if (one.standing->has_met.value_or(true)) {
      if (is_waiting(one.role)) waiting.push_back(static_cast<int>(i));
      continue;
    }
    const bool connects = one.standing->call == "connect";
    const Instant since = connects && first.met == Instant::never()
                              ? std::max(first.heard[i], one.standing->doing_since)
                              : std::max(first.heard[i], first.met);
    if (since == Instant::never() || now - since < kSayNotStartedAfter) continue;
    named.push_back(static_cast<int>(i));
    lasting = std::max(lasting, Duration(now - since));
  }
  if (named.empty()) return std::nullopt;
  Evidence notice = notice_of(FoundKind::not_started, gang, named, lasting);
  waiting.resize(std::min(waiting.size(), kMaxFoundWaiting));
  notice.found.waiting = std::move(waiting);
  notice.found.fact = shape.meeting;
  notice.found.about = shape.meets;
  notice.needs_stacks = true;
  return notice;
}

// Adds the ranks whose version of a library differs from most ranks' version.
void add_versions(EvidenceList& list, const GangNow& gang, std::string Versions::*library,
                  const std::string& name) {
  std::map<std::string, Named> by_version;
  for (std::size_t i = 0; i < gang.size(); ++i) {
    if (gang[i].standing == nullptr) continue;
    const std::string& version = gang[i].standing->versions.*library;
    if (!version.empty()) by_version[version].push_back(static_cast<int>(i));
  }
  if (by_version.size() < 2) return;
  const auto most = std::max_element(by_version.begin(), by_version.end(), [](auto& a, auto& b) {
    return a.second.size() < b.second.size();
  });
  for (const auto& [version, ranks] : by_version) {
    if (version == most->first) continue;
    Evidence notice = notice_of(FoundKind::different_versions, gang, ranks, Duration::zero());
    notice.found.fact = name + " " + version + " (the others " + most->first + ")";
    notice.found.here = static_cast<std::int64_t>(ranks.size());
    notice.found.elsewhere = static_cast<std::int64_t>(most->second.size());
    list.push_back(std::move(notice));
  }
}

void add_claims(EvidenceList& list, const GangNow& gang) {
  const Named named =
      named_where(gang, [](const RankNow& one) { return one.standing->claims > 1; });
  if (named.empty()) return;
  list.push_back(notice_of(FoundKind::two_claims, gang, named, Duration::zero()));
  Found& found = list.back().found;
  found.here = gang[static_cast<std::size_t>(named.front())].standing->claims;
  found.elsewhere = 1;
}

}  // namespace

EvidenceList notices(const GangNow& gang, const GangShape& shape, const FirstTimes& first,
                     Duration after, Instant now) {
  EvidenceList list;
  if (auto late = not_started(gang, shape, first, now)) list.push_back(*std::move(late));
  add_if_any(list, FoundKind::stopped, gang, named_where(gang, [](const RankNow& one) {
               return one.role == Role::stopped && one.still >= kSayStoppedAfter;
             }));
  add_if_any(list, FoundKind::device_wait, gang, named_where(gang, [](const RankNow& one) {
               return one.role == Role::device && one.still >= kSayDeviceAfter;
             }));
  const Named locked = named_where(
      gang, [&](const RankNow& one) { return one.role == Role::locked && one.still >= after; });
  add_if_any(list, FoundKind::cycle, gang, locked, true);
  if (!locked.empty()) {
    list.back().found.fact = "lock";
    list.back().found.about = FoundAbout::lock;
  }
  add_claims(list, gang);
  add_versions(list, gang, &Versions::mpi, "MPI");
  add_versions(list, gang, &Versions::nccl, "NCCL");
  add_versions(list, gang, &Versions::torch, "torch");
  return list;
}

}  // namespace lockstep::runner
