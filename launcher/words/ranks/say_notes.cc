#include "launcher/words/ranks/say_notes.h"

#include <fmt/format.h>

#include "common/domain/ranks/limits.h"
#include "launcher/words/ranks/say_ranks.h"
#include "launcher/words/why.h"

namespace lockstep::words {

// ---- limits that are not enforced ---------------------------------------------------------------

std::string say(const MemoryIsNotLimited& reason) {
  return fmt::format("its memory limit of {} is not enforced on this node: {}",
                     to_string(reason.limit), text_of(reason.why));
}

std::string say(const EngineLimitsNoMemory& reason) {
  return reason.engine + " cannot limit the memory of containers";
}

std::string say(const RankIsOutsideCgroup& reason) {
  return fmt::format("rank {} is not in its cgroup", reason.rank);
}

std::string say(const ProcessesAreNotLimited& reason) {
  return fmt::format("its limit of {} processes a rank is not enforced on this node",
                     with_commas(reason.limit));
}

// ---- limits that were reached -------------------------------------------------------------------

std::string say(const ForksRefused& reason) {
  std::string text = fmt::format("rank {} was refused {}", reason.rank,
                                 refused_text(reason.refused, reason.limit, reason.is_of_all_jobs));
  if (reason.more_ranks > 0) text += fmt::format("; so were {} other ranks", reason.more_ranks);
  return text;
}

std::string say(const ForksRefusedInContainer& reason) {
  return fmt::format(
      "the ranks were refused {}: the limit of their container is {} (--pids-limit; "
      "lockstep.limits.pids in a job file; for each of them)",
      processes_text(reason.refused), with_commas(reason.limit));
}

std::string say(const ForksRefusedOnNode& reason) {
  return fmt::format("the jobs of this node were refused {}: together they may have {}",
                     processes_text(reason.refused), with_commas(reason.limit));
}

std::string say(const LogsAreCut& reason) {
  const std::string who =
      reason.ranks == 1 ? fmt::format("rank {}", reason.rank)
                        : fmt::format("{} ranks (the first is {})", reason.ranks, reason.rank);
  return fmt::format(
      "{} of the output of {} are not kept: the limit of a job's logs on this node is {} "
      "(--log-limit; lockstep.limits.log in a job file)",
      to_string(reason.lost), who, to_string(reason.limit));
}

// ---- places and settings ------------------------------------------------------------------------

std::string say(const FolderDiffers& reason) {
  return fmt::format(
      "its folder is {} on this node, {}: this node can make no mount namespace, and {}",
      reason.folder,
      reason.in_each_attempt ? "and another one in each attempt" : "and another one on other nodes",
      reason.said);
}

std::string say(const SettingIsMistaken& reason) {
  std::string remedy;
  if (!reason.is_ours) {
    remedy = reason.variables.size() == 1 ? "; leave it out" : "; leave them out";
    if (!reason.is_interface)
      remedy += ", unless that is meant";
    else if (!reason.other_interface.empty())
      remedy += ", and the ranks use " + reason.other_interface;
  }
  return fmt::format("{} ({}): {}{}", fmt::join(reason.variables, " and "), reason.set_for,
                     reason.said, remedy);
}

// ---- core files ---------------------------------------------------------------------------------

std::string say(const CoreFileIsKept& reason) {
  return fmt::format("the core file of rank {} is kept: {}, {}", reason.rank, reason.file,
                     to_string(reason.size));
}

std::string say(const NoCoreFile& reason) {
  return fmt::format("no core file of rank {}: {}", reason.rank, text_of(reason.why));
}

std::string say(const CoresGoElsewhere& reason) {
  switch (reason.taker) {
    case CoreTaker::nobody: return "the node's kernel makes none (kernel.core_pattern is empty)";
    case CoreTaker::socket:
      return "the kernel gives core files to a socket (kernel.core_pattern), which Lockstep cannot "
             "ask for them";
    case CoreTaker::program: break;
  }
  if (reason.of_container)
    return fmt::format(
        "the kernel gives core files to {} of the node (kernel.core_pattern), which is outside of "
        "the container",
        reason.program);
  return fmt::format(
      "the kernel gives core files to {} (kernel.core_pattern), which Lockstep cannot ask for them",
      reason.program);
}

std::string say(const CoreToolNotStarted& reason) {
  return "it could not be looked for: " + text_of(reason.why);
}

std::string say(const CoreWasNotRead& reason) {
  if (reason.within) return "it was not read within " + format_duration(*reason.within);
  return reason.was_begun ? "there was no time to read it" : "there was no time to look at it";
}

std::string say(const CoreFileNotFound& reason) {
  return fmt::format("no core file of rank {} was found{}", reason.rank,
                     reason.is_written
                         ? " where the kernel writes them (kernel.core_pattern)"
                         : ": the kernel wrote none, or a program below the rank's shell had it");
}

std::string say(const CoreFileIsTooLarge& reason) {
  return fmt::format("the core file of rank {} has {}, and at most {} are kept", reason.rank,
                     to_string(reason.size), to_string(reason.most));
}

std::string say(const CoreFileNotWritten& reason) {
  return fmt::format(
      "the core file of rank {} is not kept: its {} could not be written to {}; is the disk full?",
      reason.rank, to_string(reason.size), reason.file);
}

std::string say(const NoStackTool& reason) {
  return fmt::format(
      "no stack of rank {}: neither eu-stack nor gdb is on this node or in the job's environment; "
      "install elfutils or gdb on the node",
      reason.rank);
}

}  // namespace lockstep::words
