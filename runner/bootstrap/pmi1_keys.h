#pragma once
// The keys and values that the ranks of a job publish by PMI-1, as one node knows them: its own
// ranks' at once, other nodes' after a barrier. It counts what each rank puts, and does no I/O.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace lockstep::runner {

// The limits of Hydra, which some clients have built in.
inline constexpr std::size_t kMaxPmi1Key = 64;
// the most bytes of a value: clients have buffers of these sizes
inline constexpr std::size_t kMaxPmi1Value = 1024;
inline constexpr int kMaxPmi1Keys = 4096;  // the most puts of one rank; MPICH 5 puts 10
inline constexpr std::size_t kMaxPmi1Bytes = 1 << 20;

class Pmi1Keys {
 public:
  // Adds a value of a rank. Neither text may contain a space or a line's end, and the key no '='. A
  // second value of a key replaces the first. Returns an error over a limit.
  Status put(int rank, std::string_view key, std::string_view value);
  const std::string* find(const std::string& key) const;  // nullptr: the key is not known here

  // The values that were put here since the last call, for the other nodes. The encoding marks its
  // own end, so that parts can be joined.
  std::string take_new();
  void add(std::string_view parts);  // take_new()s of this and other nodes

 private:
  struct Count {
    int keys = 0;
    std::size_t bytes = 0;
  };
  std::map<std::string, std::string> values_;
  std::string new_;
  std::map<int, Count> counts_;  // the counts by rank
};

}  // namespace lockstep::runner
