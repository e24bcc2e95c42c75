#pragma once
// The common form of texts of reasons: two lines, the cause with its place and what to type; names
// of ranks and nodes; and other people's words, shortened and made printable. Pure.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"

namespace lockstep::words {

// Each is one line without a newline, safe for a person's screen.
struct Said {
  std::string what;    // the cause and its place
  std::string remedy;  // what to do about it, with the command to type; "": nothing
  friend bool operator==(const Said&, const Said&) = default;
};

// The job that a reason is about.
struct About {
  std::string job;                               // the job's name, for commands
  std::function<std::string(int)> node_of = {};  // a node's name by its rank in the gang
  bool ends_on_hang = false;                     // lockstep.on_hang is fail or retry
  // The attempt whose stacks are kept, if lockstep.on_hang is stacks; 0: none are.
  std::uint32_t stacks_of_attempt = 0;
};

inline constexpr std::size_t kShownTextBytes = 160;  // the longest text of somebody else

// Makes one line of somebody else's words.
std::string shown(std::string_view text);
std::string node_name(const About& about, int node_rank);

// "rank 3", "ranks 0–2", "ranks 0, 2 and 5–9"; of more than a few ranges the first ones and how
// many ranks more there are.
std::string ranks_text(std::vector<int> ranks);
// "130 s"; from ten minutes on "12m30s", "2h05m".
std::string lasting_text(Duration lasting);

}  // namespace lockstep::words
