#include "launcher/cli/attach/ranks_meant.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>

#include "common/base/printable.h"
#include "common/domain/job/pipeline.h"
#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/base/verb_table.h"
#include "launcher/cli/follow/log_selection.h"
#include "launcher/cli/text/phrases.h"

namespace lockstep::cli {

namespace {

constexpr std::size_t kMostNamed = 8;  // the most running steps that a message names

Error wrong(ErrorCode code, const std::string& verb, const std::string& what) {
  return make_error(code, verb + ": " + what);
}

std::string steps_that_run(const JobView& job) {
  std::string names;
  std::size_t count = 0;
  for (const StepView& step : job.steps) {
    if (step.phase != StepPhase::running || ++count > kMostNamed) continue;
    names += fmt::format("{}{}/{}", names.empty() ? "" : ", ", job.spec.name, step.name);
  }
  if (count > kMostNamed) names += fmt::format(" and {} more", count - kMostNamed);
  return names.empty() ? "none runs now" : "those that run: " + names;
}

// Why the job has no ranks; "": it may have some.
std::string why_without_ranks(const JobView& job) {
  const std::string& name = job.spec.name;
  if (job.spec.is_pipeline())
    return fmt::format("{} has no ranks of its own; name one of its {}: {}", name,
                       job.spec.pipeline->array.empty() ? "steps" : "tasks", steps_that_run(job));
  if (is_final(job.status))
    return fmt::format("{0} has ended ({1}), so nothing of it runs; see `lockstep job logs {0}`",
                       name, to_string(job.status));
  if (job.status == JobStatus::queued || job.attempts.empty())
    return fmt::format("{0} is {1}, so it has no ranks yet; `lockstep job explain {0}` says why",
                       name, to_string(job.status));
  return "";
}

// Ranks that have not ended. Those that have not begun are included, because only the node knows
// them.
std::vector<int> running_of(const PartView& part) {
  std::vector<int> ranks;
  for (const RankView& rank : ranks_of(part))
    if (rank.state == RankState::running || rank.state == RankState::waiting)
      ranks.push_back(rank.rank);
  return ranks;
}

std::string all_that_run(const JobView& job) {
  std::vector<int> all;
  for (const PartView& part : job.attempts.back().parts)
    for (const int rank : running_of(part)) all.push_back(rank);
  return all.empty() ? "no rank of it runs" : "those that run: " + ranges_in_words(all);
}

}  // namespace

void add_rank(CLI::App& verb, RankChoice& choice) {
  verb.add_option("--rank", choice.rank, "only this rank (global)")->check(whole_number(0));
}

void add_rank_or_node(CLI::App& verb, RankChoice& choice) {
  auto* rank = verb.add_option("--rank", choice.rank, "at this rank (global; default 0)");
  rank->check(whole_number(0));
  verb.add_option("--node", choice.node,
                  "at the first rank on this node: its name, or its rank in the job")
      ->check(filled("leave it out for rank 0"))
      ->excludes(rank);
}

Result<JobView> running_job(Connection& connection, const std::string& verb,
                            const std::string& word) {
  TRY_ASSIGN(const JobId id, job_to_change(connection, verb, word));
  TRY_ASSIGN(JobReply reply, connection.ask_for<JobReply>(ShowJob{id}));
  if (const std::string why = why_without_ranks(reply.job); !why.empty())
    return wrong(ErrorCode::conflict, verb, why);
  return std::move(reply.job);
}

Status expect_rank(const std::string& verb, const JobSpec& spec, int rank) {
  const int world = spec.world_size();
  if (rank < world) return {};
  return wrong(ErrorCode::invalid_argument, verb,
               world == 1 ? fmt::format("{} has no rank {}; its only rank is 0", spec.name, rank)
                          : fmt::format("{} has no rank {}; its ranks are 0 to {}", spec.name, rank,
                                        world - 1));
}

Result<std::vector<NodeRanks>> chosen_ranks(const std::string& verb, const JobView& job,
                                            const RankChoice& choice) {
  const JobSpec& spec = job.spec;
  if (choice.rank) TRY(expect_rank(verb, spec, *choice.rank));
  LogSelection node;
  node.node_word = choice.node;
  TRY(find_node(&node, verb, job, 0));
  if (node.node && *node.node >= spec.resources.instance_count)
    return wrong(ErrorCode::invalid_argument, verb,
                 fmt::format("{} has no node {}; its nodes are 0 to {}", spec.name, *node.node,
                             spec.resources.instance_count - 1));
  std::vector<NodeRanks> nodes;
  for (const PartView& part : job.attempts.back().parts) {
    if (node.node && part.node_rank != *node.node) continue;
    NodeRanks here{part.node_rank, part.node_name, running_of(part)};
    if (choice.rank) std::erase_if(here.ranks, [&](int rank) { return rank != *choice.rank; });
    if (!here.ranks.empty()) nodes.push_back(std::move(here));
  }
  if (!nodes.empty()) return nodes;
  const std::string what = choice.rank           ? fmt::format("rank {}", *choice.rank)
                           : choice.node.empty() ? "every rank"
                                                 : "every rank on " + printable(choice.node);
  return wrong(ErrorCode::conflict, verb,
               fmt::format("{} of {} has ended; {}", what, spec.name, all_that_run(job)));
}

int exit_code_of_choice(const Error& error, int otherwise) {
  return error.code == ErrorCode::invalid_argument ? kExitUsage : otherwise;
}

std::string ranks_text(const std::vector<NodeRanks>& nodes) {
  std::string places;
  std::size_t count = 0;
  for (const NodeRanks& node : nodes) {
    places += fmt::format("{}{} on {}", places.empty() ? "" : ", ", ranges_in_words(node.ranks),
                          printable(node.node_name));
    count += node.ranks.size();
  }
  return count == 1 ? "rank " + places : fmt::format("{} ranks: {}", count, places);
}

}  // namespace lockstep::cli
