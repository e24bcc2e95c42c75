#pragma once
// Finds the ranks of a running job that an attachment is for: the job of NAME, its newest attempt,
// and the ranks that run on each node, as the launcher knows them.

#include <optional>
#include <string>
#include <vector>

#include "common/domain/runners/attach_frames.h"
#include "common/domain/messages/views.h"
#include "launcher/cli/base/verb_context.h"
#include "launcher/cli/link/connection.h"

namespace CLI {
class App;
}

namespace lockstep::cli {

struct RankChoice {
  std::optional<int> rank;  // global
  std::string node;         // the node's name, or its rank in the job; "": any
};
void add_rank(CLI::App& verb, RankChoice& choice);
void add_rank_or_node(CLI::App& verb, RankChoice& choice);

struct NodeRanks {
  int node_rank = 0;
  std::string node_name;
  std::vector<int> ranks;  // the ranks that run, in order
};

// The job of `word` (NAME, NAME/STEP, ARRAY/TASK) if its ranks run, or are about to. Errors begin
// with `verb`: for a pipeline they name its running steps; for another job they tell its state.
Result<JobView> running_job(Connection& connection, const std::string& verb,
                            const std::string& word);

// Checks a rank of a job that is not a pipeline. Returns invalid_argument if the job does not have
// it, with the ranks that it has.
Status expect_rank(const std::string& verb, const JobSpec& spec, int rank);

// The nodes of the newest attempt with ranks that run, or the node of the chosen rank with only
// that one. Returns invalid_argument if the rank or node does not exist, and conflict if it does
// not run any more.
Result<std::vector<NodeRanks>> chosen_ranks(const std::string& verb, const JobView& job,
                                            const RankChoice& choice);

// Returns kExitUsage for a rank or node that the job does not have, else `otherwise`.
int exit_code_of_choice(const Error& error, int otherwise = kExitFailure);

// "rank 3 on n2", "7 ranks: 0–3 on n1, 4–6 on n2".
std::string ranks_text(const std::vector<NodeRanks>& nodes);

}  // namespace lockstep::cli
