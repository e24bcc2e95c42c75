#pragma once
// The things that a node cannot do for a job, and the limits that its ranks reached:
// PartReport::notes and limits.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/fields.h"
#include "common/base/time.h"
#include "common/domain/job/spec.h"
#include "common/domain/targets/fabric.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- limits that are not enforced ---------------------------------------------------------------
struct MemoryIsNotLimited {
  static constexpr std::string_view kCode = "memory_is_not_limited";
  Bytes limit;
  Why why;
  LOCKSTEP_FIELDS(MemoryIsNotLimited, limit, why);
};

struct EngineLimitsNoMemory {
  static constexpr std::string_view kCode = "engine_limits_no_memory";
  std::string engine;
  LOCKSTEP_FIELDS(EngineLimitsNoMemory, engine);
};

struct RankIsOutsideCgroup {
  static constexpr std::string_view kCode = "rank_is_outside_cgroup";
  int rank = 0;
  LOCKSTEP_FIELDS(RankIsOutsideCgroup, rank);
};

struct ProcessesAreNotLimited {
  static constexpr std::string_view kCode = "processes_are_not_limited";
  long long limit = 0;  // the limit of each rank
  LOCKSTEP_FIELDS(ProcessesAreNotLimited, limit);
};

// ---- limits that were reached -------------------------------------------------------------------
struct ForksRefused {  // processes and threads, to `rank` first
  static constexpr std::string_view kCode = "forks_refused";
  int rank = 0;
  long long refused = 0;
  long long limit = 0;
  bool is_of_all_jobs = false;  // the limit is of all jobs of the node together
  int more_ranks = 0;
  LOCKSTEP_FIELDS(ForksRefused, rank, refused, limit, is_of_all_jobs, more_ranks);
};

struct ForksRefusedInContainer {  // The limit holds for all its ranks together.
  static constexpr std::string_view kCode = "forks_refused_in_container";
  long long refused = 0;
  long long limit = 0;
  LOCKSTEP_FIELDS(ForksRefusedInContainer, refused, limit);
};

struct ForksRefusedOnNode {  // The limit holds for all jobs of the node together.
  static constexpr std::string_view kCode = "forks_refused_on_node";
  long long refused = 0;
  long long limit = 0;
  LOCKSTEP_FIELDS(ForksRefusedOnNode, refused, limit);
};

struct LogsAreCut {
  static constexpr std::string_view kCode = "logs_are_cut";
  Bytes lost;
  int rank = 0;  // the first of `ranks` whose output is not kept any more
  int ranks = 0;
  Bytes limit;
  LOCKSTEP_FIELDS(LogsAreCut, lost, rank, ranks, limit);
};

// ---- places and settings ------------------------------------------------------------------------
struct FolderDiffers {  // other nodes or other attempts have another folder
  static constexpr std::string_view kCode = "folder_differs";
  std::string folder;
  bool in_each_attempt = false;  // false: on each node
  std::string said;              // why it cannot be at the job's path
  LOCKSTEP_FIELDS(FolderDiffers, folder, in_each_attempt, said);
};

// Variables of the ranks' network with one mistake.
struct SettingIsMistaken {
  static constexpr std::string_view kCode = "setting_is_mistaken";
  std::vector<std::string> variables;
  bool is_ours = false;         // whether Lockstep set the variables
  bool is_interface = false;    // the variables name interfaces
  std::string other_interface;  // the interface that ranks would use without them; "": unknown
  std::string set_for;          // see NetworkSetting::reason
  std::string said;             // see NetworkSetting::warning
  LOCKSTEP_FIELDS(SettingIsMistaken, variables, is_ours, is_interface, other_interface, set_for,
                  said);
};

// ---- core files ---------------------------------------------------------------------------------
struct CoreFileIsKept {
  static constexpr std::string_view kCode = "core_file_is_kept";
  int rank = 0;
  std::string file;
  Bytes size;
  LOCKSTEP_FIELDS(CoreFileIsKept, rank, file, size);
};

struct NoCoreFile {
  static constexpr std::string_view kCode = "no_core_file";
  int rank = 0;
  Why why;
  LOCKSTEP_FIELDS(NoCoreFile, rank, why);
};

// The receiver of the node's core files, by kernel.core_pattern.
enum class CoreTaker { nobody, program, socket };
std::string_view to_string(CoreTaker taker);
constexpr CoreTaker last_enumerator(CoreTaker) { return CoreTaker::socket; }

struct CoresGoElsewhere {
  static constexpr std::string_view kCode = "cores_go_elsewhere";
  CoreTaker taker = CoreTaker::nobody;
  std::string program;
  bool of_container = false;  // the program is outside of the container
  LOCKSTEP_FIELDS(CoresGoElsewhere, taker, program, of_container);
};

struct CoreToolNotStarted {
  static constexpr std::string_view kCode = "core_tool_not_started";
  Why why;
  LOCKSTEP_FIELDS(CoreToolNotStarted, why);
};

struct CoreWasNotRead {
  static constexpr std::string_view kCode = "core_was_not_read";
  std::optional<Duration> within = {};  // absent: the part ended first
  bool was_begun = false;
  LOCKSTEP_FIELDS(CoreWasNotRead, within, was_begun);
};

struct CoreFileNotFound {
  static constexpr std::string_view kCode = "core_file_not_found";
  int rank = 0;
  bool is_written = false;  // true: the kernel reports that it wrote a core file
  LOCKSTEP_FIELDS(CoreFileNotFound, rank, is_written);
};

struct CoreFileIsTooLarge {
  static constexpr std::string_view kCode = "core_file_is_too_large";
  int rank = 0;
  Bytes size;
  Bytes most;
  LOCKSTEP_FIELDS(CoreFileIsTooLarge, rank, size, most);
};

struct CoreFileNotWritten {
  static constexpr std::string_view kCode = "core_file_not_written";
  int rank = 0;
  Bytes size;
  std::string file;
  LOCKSTEP_FIELDS(CoreFileNotWritten, rank, size, file);
};

struct NoStackTool {  // The node has neither eu-stack nor gdb.
  static constexpr std::string_view kCode = "no_stack_tool";
  int rank = 0;
  LOCKSTEP_FIELDS(NoStackTool, rank);
};

using NoteReasons =
    List<MemoryIsNotLimited, EngineLimitsNoMemory, RankIsOutsideCgroup, ProcessesAreNotLimited,
         ForksRefused, ForksRefusedInContainer, ForksRefusedOnNode, LogsAreCut, FolderDiffers,
         SettingIsMistaken, CoreFileIsKept, NoCoreFile, CoresGoElsewhere, CoreToolNotStarted,
         CoreWasNotRead, CoreFileNotFound, CoreFileIsTooLarge, CoreFileNotWritten, NoStackTool>;

}  // namespace lockstep
