#include "launcher/words/jobs/say_vain.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "launcher/words/counted_noun.h"
#include "launcher/words/nodes/say_fit.h"
#include "launcher/words/nodes/say_placement.h"
#include "launcher/words/why.h"

namespace lockstep::words {

namespace {

// The names of a resource where a job requests it.
struct AmountNames {
  std::string_view flag;     // the option of `lockstep run`
  std::string_view section;  // section of a job file
  std::string_view key;      // the key in the section
};

AmountNames names_of(AskedAmount amount) {
  switch (amount) {
    case AskedAmount::cpus: return {"--cpus", "lockstep.resources", "cpus"};
    case AskedAmount::disk: return {"--disk-limit", "lockstep.limits", "disk"};
    case AskedAmount::gpus: return {"--gpus", "lockstep.resources", "gpus"};
    case AskedAmount::log: return {"--log-limit", "lockstep.limits", "log"};
    case AskedAmount::memory: return {"--memory", "lockstep.resources", "memory"};
    case AskedAmount::pids: return {"--pids-limit", "lockstep.limits", "pids"};
  }
  return {};
}

// "ask for less (--cpus; lockstep.resources.cpus in a job file)".
std::string less_of(const ShortOf& short_of) {
  const std::vector<AskedAmount>& amounts = short_of.amounts;
  if (amounts.empty())
    return short_of.gpu_for_each_rank
               ? "leave out lockstep.gpus_per_rank, or ask for fewer ranks on each node (-n; "
                 "distribution.process_count_per_instance in a job file)"
           : short_of.limits
               ? "leave out --require-limits (lockstep.limits.enforcement in a job file)"
               : "ask for less";
  const bool is_one = amounts.size() == 1;
  std::vector<std::string_view> flags;
  std::vector<std::string> keys;
  for (const AskedAmount amount : amounts) {
    const AmountNames names = names_of(amount);
    flags.push_back(names.flag);
    std::string key =
        is_one ? fmt::format("{}.{}", names.section, names.key) : std::string(names.section);
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
  }
  if (is_one && amounts.front() == AskedAmount::gpus && short_of.no_gpus)
    return fmt::format("leave out {} ({} in a job file)", flags.front(), keys.front());
  return fmt::format("ask for less ({}; {} in a job file)", fmt::join(flags, ", "),
                     fmt::join(keys, " and "));
}

std::string remedy(const ShortOf& short_of, const std::string& or_more, std::string_view restart) {
  std::string text = less_of(short_of) + or_more;
  if (short_of.no_gpus && !short_of.node_without_gpu.empty())
    text +=
        fmt::format("; if {} has gpus, Lockstep does not see them: run `nvidia-smi` there, then {}",
                    short_of.node_without_gpu, restart);
  return text;
}

// The remedy. More nodes on the local machine would not be larger than those that it has, and have
// no labels.
std::string remedy(const NodesNeverFit& reason) {
  const bool is_ours = reason.is_local;
  const std::string more =
      is_ours ? fmt::format("start more nodes with `lockstep up --nodes {}`", reason.wanted)
              : fmt::format("join nodes that have it: `lockstep node token --compute {}`",
                            reason.target);
  const std::string or_more = is_ours ? "" : ", or " + more;
  switch (reason.lack) {
    case NodesLack::label:
      return fmt::format("give a node the label: `lockstep node label NODE {}`{}",
                         labels_of(reason.labels), or_more);
    case NodesLack::engine:
      return fmt::format("install docker or podman on its nodes and restart their lockstep-agent{}",
                         or_more);
    case NodesLack::amounts:
      return remedy(reason.short_of, or_more,
                    is_ours ? "`lockstep down` and `lockstep up`" : "restart its lockstep-agent");
    case NodesLack::rdma:
      return fmt::format("leave out --rdma (lockstep.rdma in a job file){}", or_more);
    case NodesLack::isolation:
      return fmt::format(
          "leave out --isolated (lockstep.isolated in a job file){}",
          is_ours ? ", or start one node alone with `lockstep up --nodes 1`" : or_more);
    case NodesLack::account:
      return fmt::format("create the account {} on a node and restart that node's lockstep-agent",
                         reason.account);
    case NodesLack::number: break;
  }
  if (reason.fitting > 0)
    return fmt::format("ask for at most {} (-N; resources.instance_count in a job file), or {}",
                       counted(static_cast<std::size_t>(reason.fitting), "node"), more);
  return more;
}

}  // namespace

std::string say(const WaitsInVain& reason) {
  return text_of(reason.why) + "; " + text_of(reason.vain);
}

std::string say(const NobodyJoins& reason) {
  return fmt::format(
      "target '{0}' has no nodes; to change that, join some: `lockstep node token --compute {0}`",
      reason.target);
}

std::string say(const NodesNeverFit& reason) {
  const std::string who =
      reason.fitting == 0
          ? fmt::format("no node of target '{}' can ever take it", reason.target)
          : fmt::format("only {} of target '{}' can ever take it",
                        counted(static_cast<std::size_t>(reason.fitting), "node"), reason.target);
  return fmt::format("{}{}; to change that, {}", who,
                     reason.example ? " (" + say(*reason.example) + ")" : "", remedy(reason));
}

std::string say(const NeedsWhatNoNodeHas& reason) {
  return fmt::format("needs {}, but {}", describe(reason.asked), text_of(reason.vain));
}

std::string say(const NodesLackEngine& reason) {
  return fmt::format(
      "needs a container engine on {}, but {} of the {} nodes of target '{}' have none: {}",
      reason.wanted == 1 ? "a node" : counted(static_cast<std::size_t>(reason.wanted), "node"),
      reason.lacking, reason.nodes, reason.target, kNoEngine);
}

std::string say(const JobWaitsInVain& reason) {
  const std::string who = !reason.task.empty()   ? "task " + reason.task
                          : !reason.step.empty() ? "step '" + reason.step + "'"
                                                 : "the job";
  return fmt::format("{} waits in vain: it needs {}, and {}", who, describe(reason.asked),
                     text_of(reason.vain));
}

}  // namespace lockstep::words
