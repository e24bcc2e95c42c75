#include "launcher/state/found_state.h"

#include "launcher/state/state.h"

namespace lockstep::launcher {

Found without_contents(Found found) {
  for (FoundRank& rank : found.ranks) rank = {rank.rank, rank.node_rank, rank.doing, "", "", "", 0};
  found.fact.clear();
  found.about = FoundAbout::named;
  found.here = found.elsewhere = 0;
  return found;
}

words::About about(const State& state, const Attempt& attempt) {
  words::About about{
      attempt.id.job.value, [&state, &attempt](int node_rank) {
        if (node_rank < 0 || node_rank >= attempt.size()) return std::string();
        return state.node_name(attempt.parts[static_cast<std::size_t>(node_rank)].node);
      }};
  const Job* job = state.job(attempt.id.job);
  if (job != nullptr && job->spec.hang.on == OnHang::stacks)
    about.stacks_of_attempt = attempt.id.number;
  return about;
}

NamedFound named(const State& state, const Attempt& attempt, const Found& found) {
  const words::About names = about(state, attempt);
  return named(found, names.job, static_cast<int>(names.stacks_of_attempt), names.node_of);
}

}  // namespace lockstep::launcher
