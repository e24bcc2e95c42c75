#include "runner/gang/collective.h"

#include <charconv>
#include <string_view>
#include <utility>

namespace lockstep::runner {
namespace {

bool parse_number(std::string_view text, int* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

// "3" or "3-5".
bool add_range(std::string_view text, int world_size, std::set<int>* ranks) {
  const std::size_t dash = text.find('-');
  int first = 0, last = 0;
  if (!parse_number(text.substr(0, dash), &first)) return false;
  last = first;
  if (dash != std::string_view::npos && !parse_number(text.substr(dash + 1), &last)) return false;
  if (first < 0 || last < first || last >= world_size) return false;
  for (int rank = first; rank <= last; ++rank) ranks->insert(rank);
  return true;
}

}  // namespace

std::string fence_signature(const std::string& kind, const std::set<int>& ranks, bool whole_job) {
  std::string text = kind;
  text += '|';
  if (whole_job) return text += '*';
  for (auto it = ranks.begin(); it != ranks.end();) {
    const int first = *it;
    int last = first;
    for (++it; it != ranks.end() && *it == last + 1; ++it) ++last;
    if (text.back() != '|') text += ',';
    text += std::to_string(first);
    if (last > first) text.append(1, '-').append(std::to_string(last));
  }
  return text;
}

std::set<int> ranks_of_signature(const std::string& signature, int world_size) {
  const std::size_t bar = signature.rfind('|');
  if (bar == std::string::npos) return {};
  std::string_view rest = std::string_view(signature).substr(bar + 1);
  std::set<int> ranks;
  if (rest == "*") {
    for (int rank = 0; rank < world_size; ++rank) ranks.insert(ranks.end(), rank);
    return ranks;
  }
  while (true) {
    const std::size_t comma = rest.find(',');
    if (!add_range(rest.substr(0, comma), world_size, &ranks)) return {};
    if (comma == std::string_view::npos) return ranks;
    rest.remove_prefix(comma + 1);
  }
}

FenceTree::FenceTree(GangTree tree, int ranks_per_node)
    : tree_(tree), ranks_per_node_(ranks_per_node) {}

std::set<int> FenceTree::nodes_of(const std::string& signature) const {
  std::set<int> nodes;
  for (int rank : ranks_of_signature(signature, tree_.nodes() * ranks_per_node_)) {
    nodes.insert(nodes.end(), rank / ranks_per_node_);
  }
  return nodes;
}

std::vector<FenceTree::Step> FenceTree::contribute(const std::string& signature, std::string blob,
                                                   std::uint64_t* sequence) {
  *sequence = ++sequences_[signature];
  const Key key{signature, *sequence};
  gathering_[key].emplace(tree_.node_rank(), std::move(blob));
  return advance(key);
}

std::vector<FenceTree::Step> FenceTree::receive(FencePart part) {
  const Key key{part.signature, part.sequence};
  const std::set<int> participants = nodes_of(part.signature);
  auto& blobs = gathering_[key];
  for (auto& [node, blob] : part.blobs) {
    const bool ours = node != tree_.node_rank() && tree_.in_subtree(node);
    if (ours && participants.count(node)) blobs.emplace(node, std::move(blob));
  }
  if (blobs.empty()) {
    gathering_.erase(key);
    return {};
  }
  return advance(key);
}

// The lowest node whose subtree holds all participants merges the parts.
std::vector<FenceTree::Step> FenceTree::advance(const Key& key) {
  const std::set<int> participants = nodes_of(key.first);
  std::size_t expected = 0;
  for (int node : participants) expected += tree_.in_subtree(node) ? 1 : 0;
  const auto found = gathering_.find(key);
  if (found->second.size() < expected) return {};
  std::map<int, std::string> blobs = std::move(found->second);
  gathering_.erase(found);
  if (expected < participants.size()) {
    return {Climb{FencePart{key.first, key.second, std::move(blobs)}}};
  }
  return deliver(participants, FenceDone{key.first, key.second, std::move(blobs)});
}

std::vector<FenceTree::Step> FenceTree::receive(FenceDone done) {
  const std::set<int> participants = nodes_of(done.signature);
  return deliver(participants, std::move(done));
}

std::vector<FenceTree::Step> FenceTree::deliver(const std::set<int>& participants,
                                                FenceDone done) const {
  bool here = false, below = false;
  for (int node : participants) {
    if (node == tree_.node_rank()) {
      here = true;
    } else if (tree_.in_subtree(node)) {
      below = true;
    }
  }
  std::vector<Step> steps;
  if (below) steps.push_back(Descend{done});
  if (here) steps.push_back(Complete{done.signature, done.sequence, std::move(done.blobs)});
  return steps;
}

}  // namespace lockstep::runner
