#pragma once
// Attachments that end by themselves, at several nodes side by side: signals, stacks, and programs
// that read a text. Collects the output of each.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/runners/attach_frames.h"
#include "launcher/cli/attach/ranks_meant.h"
#include "launcher/cli/link/connection.h"

namespace lockstep::cli {

struct AttachAnswer {
  AttachOpened opened;  // the answer to the opening, if there was one
  std::string output;   // at most kMaxAnswerBytes
  AttachEnd end;
  // Set if the attachment was not opened, or has not ended in time. An end with a code other than 0
  // is not an error here.
  std::optional<Error> error;
};
inline constexpr std::size_t kMaxAnswerBytes = 64u << 20;
inline constexpr std::size_t kMostCallsAtOnce = 64;

// Makes one opening for each of `nodes`, whose ranks run: for the rank if only one is chosen, else
// for all of the node.
std::vector<AttachOpen> openings_for(const JobView& job, const std::vector<NodeRanks>& nodes,
                                     bool one_rank, const AttachOrder& order);

// Calls all openings, and returns as many answers, in their order. Each opening has the time
// `within` from when it is sent. `input`: the input of each program, if the programs take input.
Result<std::vector<AttachAnswer>> call_all(Connection& connection, std::vector<AttachOpen> openings,
                                           Duration within, std::string input = "");

}  // namespace lockstep::cli
