#include "launcher/daemon/node_alarms.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/core/access/authority.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {

namespace {

Instant lost_since(const Node& node, Instant otherwise) {
  const auto event = std::find_if(node.history.rbegin(), node.history.rend(),
                                  [](const NodeEvent& one) { return one.what == "Lost"; });
  return event == node.history.rend() ? otherwise : event->at;
}

}  // namespace

void NodeAlarms::begin(Instant now, const std::map<NodeId, Node>& nodes) {
  for (const auto& [id, node] : nodes)
    if (node.lost)
      lost_.insert_or_assign(
          id, Lost{node.name, lost_since(node, now), {kFirstReminder, kLongestReminder}});
}

void NodeAlarms::take(Instant now, const std::vector<NodeNews>& news) {
  for (const NodeNews& one : news) take_one(now, one);
}

void NodeAlarms::take_one(Instant now, const NodeNews& news) {
  switch (news.liveness) {
    case Liveness::unknown:
      silent_[news.node] = now;
      return ports_.warn(
          fmt::format("node {} is UNKNOWN: {}; it gets no new work, and what runs there goes on",
                      news.name, words::text_of(news.why)));
    case Liveness::lost:
      silent_.erase(news.node);
      lost_.insert_or_assign(news.node, Lost{news.name, now, {kFirstReminder, kLongestReminder}});
      lost_.at(news.node).reminders.said(now);
      record("lose node", news, words::text_of(news.why));
      return ports_.warn(
          fmt::format("node {} is LOST: {}; its jobs go on elsewhere as their retries say",
                      news.name, words::text_of(news.why)));
    case Liveness::alive: {
      const auto lost = lost_.find(news.node);
      const auto silent = silent_.find(news.node);
      std::string away;
      if (lost != lost_.end()) away = " after " + format_duration(now - lost->second.since);
      if (silent != silent_.end()) away = " after " + format_duration(now - silent->second);
      ports_.inform(fmt::format("node {} reports again{}", news.name, away));
      if (lost != lost_.end()) record("hear node again", news, "it was LOST" + away);
      silent_.erase(news.node);
      lost_.erase(news.node);
    }
  }
}

void NodeAlarms::record(const char* what, const NodeNews& news, std::string detail) {
  AuditEntry entry;
  entry.who = name_of(LauncherItself{});
  entry.what = what;
  entry.object = "node " + news.name;
  entry.outcome = AuditOutcome::note;
  entry.detail = std::move(detail);
  ports_.record(std::move(entry));
}

Instant NodeAlarms::next_deadline() const {
  Instant next = Instant::never();
  for (const auto& [id, lost] : lost_) next = std::min(next, lost.reminders.next());
  return next;
}

// Writes one line for all alarms that are due: a rack that lost power is one problem.
void NodeAlarms::remind(Instant now, const std::function<bool(NodeId)>& is_there) {
  std::erase_if(lost_, [&](const auto& one) { return !is_there(one.first); });
  std::erase_if(silent_, [&](const auto& one) { return !is_there(one.first); });
  std::string names;
  std::size_t due = 0;
  Instant oldest = now;
  for (auto& [id, lost] : lost_) {
    if (!lost.reminders.is_due(now)) continue;
    if (due++ < kNamedInReminder) names += (names.empty() ? "" : ", ") + lost.name;
    oldest = std::min(oldest, lost.since);
  }
  if (due == 0) return;
  if (due > kNamedInReminder) names += fmt::format(" and {} more", due - kNamedInReminder);
  ports_.warn(fmt::format("still LOST, the first for {}: {} {}", format_duration(now - oldest),
                          due == 1 ? "node" : "nodes", names));
}

}  // namespace lockstep::launcher
