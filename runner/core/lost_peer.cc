#include "runner/core/lost_peer.h"

#include <algorithm>
#include <cctype>

namespace lockstep::runner {

namespace {

// Messages in lower case.
constexpr std::string_view kBroken[] = {
    "closed by peer",        "closed by remote peer", "reset by peer",
    "reset by remote peer",  "broken pipe",           "connection refused",
    "connection timed out",  "no route to host",      "connection closed",
    "failed to connect",     "cannot be connected",   "unexpectedly disconnected",
    "remote process exited", "lost connection",       "read error [",
    "write error [",         "connection was closed", "host is unreachable"};
// Open MPI prints the peer's host some lines further down.
constexpr std::string_view kPeerHost = "peer host:";
constexpr std::size_t kLinesToPeerHost = 20;

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_' ||
         c == ':';
}

// The longest beginning of a word that is a node's name or address. A port or a domain may follow
// it.
const NodesByName::value_type* name_at(std::string_view word, const NodesByName& names) {
  if (word.starts_with("::ffff:")) word.remove_prefix(7);
  while (!word.empty()) {
    if (const auto found = names.find(word); found != names.end()) return &*found;
    const std::size_t cut = word.find_last_of(".:");
    if (cut == std::string_view::npos) return nullptr;
    word = word.substr(0, cut);
  }
  return nullptr;
}

// The first node named in the text; this node itself does not count.
const NodesByName::value_type* name_in(std::string_view text, const NodesByName& names, int own) {
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_of_name(text[end])) ++end;
    if (end == i) {
      ++i;
      continue;
    }
    const auto* const named = name_at(text.substr(i, end - i), names);
    if (named != nullptr && named->second != std::vector<int>{own}) return named;
    i = end;
  }
  return nullptr;
}

bool says_broken(const std::string& lower) {
  return std::any_of(std::begin(kBroken), std::end(kBroken), [&](std::string_view phrase) {
    return lower.find(phrase) != std::string::npos;
  });
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void add_names(const GangTable& gang, NodesByName& names) {
  for (std::size_t i = 0; i < gang.members.size(); ++i) {
    const GangMember& member = gang.members[i];
    for (const std::string& name : {member.address, member.hostname}) {
      if (name.empty() || name.size() > kMaxPeerAddressBytes) continue;
      std::vector<int>& nodes = names[name];
      const int node = static_cast<int>(i);
      // Nodes are sorted: all nodes of a gang may have one name.
      const auto place = std::lower_bound(nodes.begin(), nodes.end(), node);
      if (place == nodes.end() || *place != node) nodes.insert(place, node);
    }
  }
}

}  // namespace

NodesByName nodes_by_name(const GangTable& gang, const SharedGang& launchers) {
  NodesByName names;
  add_names(gang, names);
  if (launchers) add_names(*launchers, names);
  return names;
}

NamedPeer peer_named_in(std::string_view stderr_tail, const NodesByName& names, int own) {
  const std::vector<std::string_view> lines = lines_of(stderr_tail);
  NamedPeer peer;
  std::size_t named_until = 0;  // lines before this number may name the peer of a broken connection
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string lower = in_lower_case(lines[i]);
    const NodesByName::value_type* named = nullptr;
    if (says_broken(lower)) {
      named_until = i + kLinesToPeerHost;
      named = name_in(lines[i], names, own);
    } else if (const std::size_t at = lower.find(kPeerHost);
               at != std::string::npos && i < named_until) {
      named = name_in(lines[i].substr(at + kPeerHost.size()), names, own);
    }
    if (named != nullptr) peer = {named->first, named->second};
  }
  return peer;
}

}  // namespace lockstep::runner
