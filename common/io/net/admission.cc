#include "common/io/net/admission.h"

#include <algorithm>

namespace lockstep::io {
namespace {

// The source of an address. A host in an IPv6 network can use any of its addresses, so only the
// first 64 bits count.
std::string source_of(const std::string& address) {
  if (address.find('.') != std::string::npos || address.find(':') == std::string::npos)
    return address;
  std::size_t end = 0;
  for (int groups = 0; groups < 4 && end != std::string::npos; ++groups) {
    if (address.compare(end, 2, "::") == 0) break;
    end = address.find(':', end + 1);
  }
  return address.substr(0, end);
}

// The number of arrivals after which all sources are checked, which is expensive.
constexpr std::uint64_t kSweepEvery = 256;

}  // namespace

Admission::Limits Admission::limits_for(std::size_t descriptors) {
  constexpr std::size_t kMost = 65'536;
  const std::size_t own = std::min<std::size_t>(descriptors / 4, 2'048);
  Limits limits;
  limits.all = std::clamp<std::size_t>(descriptors - own, 4, kMost);
  limits.per_source = limits.all - limits.all / 4;
  limits.unproven = std::min<std::size_t>(limits.all / 2, 16'384);
  limits.unproven_per_source = std::max<std::size_t>(limits.unproven / 2, 1);
  return limits;
}

void Admission::forget(int fd) {
  const auto it = entries_.find(fd);
  if (it == entries_.end()) return;
  const auto source = sources_.find(it->second.source);
  --source->second.all;
  if (!it->second.is_proven) {
    source->second.unproven.erase({it->second.order, fd});
    --unproven_;
  }
  if (source->second.all == 0) sources_.erase(source);
  entries_.erase(it);
}

std::optional<Admission::Connection> Admission::take_oldest_unproven(const std::string& source) {
  for (;;) {
    const auto found = sources_.find(source);
    if (found == sources_.end() || found->second.unproven.empty()) return std::nullopt;
    const int fd = found->second.unproven.begin()->second;
    Connection oldest{fd, entries_.at(fd).peer};
    forget(fd);
    if (is_open_(oldest)) return oldest;
  }
}

// The source with most unproven connections. If some source has never proven one, only such sources
// count.
std::optional<std::string> Admission::most_unproven() const {
  const auto rank = [](const Source& source) {
    return std::pair(!source.unproven.empty() && source.proven() == 0, source.unproven.size());
  };
  const auto most = std::max_element(
      sources_.begin(), sources_.end(),
      [&](const auto& a, const auto& b) { return rank(a.second) < rank(b.second); });
  if (most == sources_.end() || most->second.unproven.empty()) return std::nullopt;
  return most->first;
}

void Admission::forget_closed() {
  if (last_order_ - swept_at_ < kSweepEvery) return;
  swept_at_ = last_order_;
  std::vector<int> closed;
  for (const auto& [fd, entry] : entries_)
    if (!is_open_({fd, entry.peer})) closed.push_back(fd);
  for (const int fd : closed) forget(fd);
}

Admission::Verdict Admission::arrived(const Connection& connection) {
  const std::lock_guard lock(mutex_);
  Verdict verdict;
  const std::string source = source_of(connection.peer.address);
  forget(connection.fd);  // the earlier connection with this descriptor was closed
  ++last_order_;
  const auto make_room = [&](const std::string& of) {
    auto oldest = take_oldest_unproven(of);
    if (oldest) verdict.shut.push_back(std::move(*oldest));
    return oldest.has_value() || sources_.count(of) == 0;
  };
  if (const auto it = sources_.find(source); it != sources_.end()) {
    const bool is_full = it->second.all >= limits_.per_source;
    if (is_full || it->second.unproven.size() >= limits_.unproven_per_source)
      if (!make_room(source) && is_full) {
        forget_closed();
        const auto now = sources_.find(source);
        verdict.admitted = now == sources_.end() || now->second.all < limits_.per_source;
      }
  }
  while (verdict.admitted && unproven_ >= limits_.unproven) make_room(*most_unproven());
  if (verdict.admitted && entries_.size() >= limits_.all) {
    if (const auto most = most_unproven()) make_room(*most);
    if (entries_.size() >= limits_.all) forget_closed();
    verdict.admitted = entries_.size() < limits_.all;
  }
  if (!verdict.admitted) return verdict;
  entries_[connection.fd] = {connection.peer, source, last_order_, false};
  Source& mine = sources_[source];
  ++mine.all;
  mine.unproven.insert({last_order_, connection.fd});
  ++unproven_;
  return verdict;
}

void Admission::proven(int fd, const std::string& address) {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(fd);
  if (it == entries_.end() || it->second.is_proven || it->second.peer.address != address) return;
  it->second.is_proven = true;
  sources_.at(it->second.source).unproven.erase({it->second.order, fd});
  --unproven_;
}

Admission::Count Admission::count() const {
  const std::lock_guard lock(mutex_);
  return {entries_.size(), unproven_};
}

}  // namespace lockstep::io
