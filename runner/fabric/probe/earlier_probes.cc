#include "runner/fabric/probe/earlier_probes.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "common/base/digest.h"
#include "common/io/clock.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/wire/runners/runner_codec.h"

namespace lockstep::runner {
namespace {

constexpr Bytes kMostOfEntry = mebibytes(4);

bool offers(const ProbedNode& node, const ChosenPath& path) {
  if (path.address == node.address) return true;
  return node.offer && std::any_of(node.offer->candidates.begin(), node.offer->candidates.end(),
                                   [&path](const ProbeCandidate& candidate) {
                                     return candidate.address == path.address &&
                                            candidate.interface == path.interface;
                                   });
}

// Renumbers every node rank in the result; false: a rank has no new number.
template <typename Number>
bool renumber(ProbeResult& result, Number number) {
  bool all = true;
  const auto move = [&](int& node) {
    const std::optional<int> moved = number(node);
    all = all && moved.has_value();
    node = moved.value_or(0);
  };
  for (ChosenPath& path : result.chosen) move(path.node_rank);
  for (PathFailure& failure : result.failures) {
    move(failure.from);
    move(failure.to);
  }
  std::sort(result.chosen.begin(), result.chosen.end(),
            [](const auto& a, const auto& b) { return a.node_rank < b.node_rank; });
  return all;
}

// The message of an entry that is still valid. An entry has the time when it was made, in
// nanoseconds since boot, a newline, and the message.
std::optional<std::string_view> still_valid(std::string_view entry) {
  const std::size_t line = entry.find('\n');
  if (line == std::string_view::npos) return std::nullopt;
  std::int64_t made = 0;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + line, made);
  if (error != std::errc() || end != entry.data() + line) return std::nullopt;
  const Duration age = io::since_boot() - Duration(made);
  if (age < Duration::zero() || age > kProbeCachedFor) return std::nullopt;
  return entry.substr(line + 1);
}

}  // namespace

ProbeCacheKey probe_cache_key(std::string_view kind, const std::vector<ProbedNode>& nodes) {
  ProbeCacheKey key;
  key.order.resize(nodes.size());
  std::iota(key.order.begin(), key.order.end(), 0);
  const auto print = [&nodes](int node) -> std::string {
    const auto& offer = nodes[static_cast<std::size_t>(node)].offer;
    return offer ? offer->fingerprint : "";
  };
  if (key.order.size() > 1)
    std::stable_sort(key.order.begin() + 1, key.order.end(),
                     [&](int a, int b) { return print(a) < print(b); });
  std::string all(kind);
  for (const int node : key.order) {
    all += '\0' + print(node);
    if (const auto& offer = nodes[static_cast<std::size_t>(node)].offer)
      for (const ProbeCandidate& candidate : offer->candidates) all += '\0' + candidate.address;
  }
  key.name = sha256(all).hex();
  return key;
}

ProbeOutcome in_cache_order(const ProbeCacheKey& key, ProbeOutcome outcome) {
  std::vector<int> places(key.order.size());
  for (std::size_t place = 0; place < key.order.size(); ++place)
    places[static_cast<std::size_t>(key.order[place])] = static_cast<int>(place);
  (void)renumber(outcome.result, [&places](int node) -> std::optional<int> {
    if (node < 0 || node >= static_cast<int>(places.size())) return std::nullopt;
    return places[static_cast<std::size_t>(node)];
  });
  return outcome;
}

std::optional<ProbeOutcome> from_cache_order(const ProbeCacheKey& key, ProbeOutcome entry,
                                             const std::vector<ProbedNode>& nodes) {
  const bool is_whole = renumber(entry.result, [&key](int place) -> std::optional<int> {
    if (place < 0 || place >= static_cast<int>(key.order.size())) return std::nullopt;
    return key.order[static_cast<std::size_t>(place)];
  });
  const auto& chosen = entry.result.chosen;
  if (!is_whole || entry.failed_on >= 0 || chosen.size() != nodes.size()) return std::nullopt;
  for (std::size_t rank = 0; rank < chosen.size(); ++rank)
    if (chosen[rank].node_rank != static_cast<int>(rank) || !offers(nodes[rank], chosen[rank]))
      return std::nullopt;
  entry.result.cached = true;
  return entry;
}

std::optional<ProbeOutcome> ProbeCache::find(const ProbeCacheKey& key,
                                             const std::vector<ProbedNode>& nodes) const {
  if (folder_.empty()) return std::nullopt;
  const auto entry = io::read_regular_file(path(key), kMostOfEntry);
  if (!entry) return std::nullopt;
  const auto bytes = still_valid(*entry);
  if (!bytes) return std::nullopt;
  auto message = wire::decode_gang(*bytes);
  auto* const outcome = message ? std::get_if<ProbeOutcome>(&*message) : nullptr;
  if (outcome == nullptr) return std::nullopt;
  return from_cache_order(key, std::move(*outcome), nodes);
}

void ProbeCache::keep(const ProbeCacheKey& key, const ProbeOutcome& outcome) const {
  if (folder_.empty()) return;
  Status kept = io::make_directories(folder_, 0700);
  if (const auto names = io::list_directory(folder_); names && names->size() >= kMostCachedProbes)
    for (const std::string& name : *names) forget_probe(folder_ + "/" + name);
  if (kept)
    kept = io::write_file_atomically(path(key),
                                     std::to_string(io::since_boot().count()) + "\n" +
                                         wire::encode(GangMessage(in_cache_order(key, outcome))),
                                     0600, false);
  if (!kept) spdlog::warn("the probe's result is not kept: {}", kept.error().message);
}

void forget_probe(const std::string& path) {
  if (!path.empty()) (void)io::disk::unlink(path.c_str());
}

}  // namespace lockstep::runner
