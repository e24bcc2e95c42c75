#pragma once
// Fences over the runners of one gang, as a pure state machine: contributions go up the tree, and
// their union comes down. It numbers the fences of each signature, so that two successive ones
// cannot mix, and keeps a peer's part that arrives before the local call. It sends nothing and does
// not depend on PMIx.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "common/domain/runners/runner_protocol.h"
#include "runner/gang/gang_tree.h"

namespace lockstep::runner {

// The name of a set of ranks: "fence|*" (the whole job) or "fence|0-3,7". `kind` ("fence")
// distinguishes operations over the same ranks.
std::string fence_signature(const std::string& kind, const std::set<int>& ranks, bool whole_job);
// The ranks of a signature; empty when it is malformed or names a rank outside 0..world_size-1.
std::set<int> ranks_of_signature(const std::string& signature, int world_size);

class FenceTree {
 public:
  struct Climb {
    FencePart part;
  };  // the part goes to the parent
  struct Descend {
    FenceDone done;
  };                 // the result goes to all children
  struct Complete {  // the local call may return; `blobs` by node, including our own
    std::string signature;
    std::uint64_t sequence = 0;
    std::map<int, std::string> blobs;
  };
  using Step = std::variant<Climb, Descend, Complete>;

  FenceTree(GangTree tree, int ranks_per_node);

  // Takes the contribution of all local participants, `blob`. Sets `sequence`, which
  // Complete::sequence will repeat.
  std::vector<Step> contribute(const std::string& signature, std::string blob,
                               std::uint64_t* sequence);
  std::vector<Step> receive(FencePart part);  // a part from a child
  std::vector<Step> receive(FenceDone done);  // a result from the parent
  std::size_t open() const { return gathering_.size(); }

 private:
  using Key = std::pair<std::string, std::uint64_t>;
  std::set<int> nodes_of(const std::string& signature) const;
  std::vector<Step> advance(const Key& key);
  std::vector<Step> deliver(const std::set<int>& participants, FenceDone done) const;

  GangTree tree_;
  int ranks_per_node_;
  std::map<std::string, std::uint64_t> sequences_;       // the local calls so far
  std::map<Key, std::map<int, std::string>> gathering_;  // parts received from our subtree
};

}  // namespace lockstep::runner
