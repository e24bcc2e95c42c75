#pragma once
// What a node cannot do for a job, and what the ranks there ran into: PartReport::notes and limits.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/time.h"
#include "common/domain/fabric.h"
#include "common/domain/job_spec.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- limits that are not enforced ---------------------------------------------------------------
struct MemoryIsNotLimited {
  static constexpr std::string_view kCode = "memory_is_not_limited";
  Bytes limit;
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("limit", self.limit);
    see("why", self.why);
  }
  friend bool operator==(const MemoryIsNotLimited&, const MemoryIsNotLimited&) = default;
};

struct EngineLimitsNoMemory {
  static constexpr std::string_view kCode = "engine_limits_no_memory";
  std::string engine;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("engine", self.engine);
  }
  friend bool operator==(const EngineLimitsNoMemory&, const EngineLimitsNoMemory&) = default;
};

struct RankIsOutsideCgroup {
  static constexpr std::string_view kCode = "rank_is_outside_cgroup";
  int rank = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("rank", self.rank);
  }
  friend bool operator==(const RankIsOutsideCgroup&, const RankIsOutsideCgroup&) = default;
};

struct ProcessesAreNotLimited {
  static constexpr std::string_view kCode = "processes_are_not_limited";
  long long limit = 0;  // of each rank
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("limit", self.limit);
  }
  friend bool operator==(const ProcessesAreNotLimited&, const ProcessesAreNotLimited&) = default;
};

// ---- limits that were reached -------------------------------------------------------------------
struct ForksRefused {  // processes and threads, to `rank` first
  static constexpr std::string_view kCode = "forks_refused";
  int rank = 0;
  long long refused = 0;
  long long limit = 0;
  bool is_of_all_jobs = false;  // the limit is of all jobs of the node together
  int more_ranks = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("rank", self.rank);
    see("refused", self.refused);
    see("limit", self.limit);
    see("is_of_all_jobs", self.is_of_all_jobs);
    see("more_ranks", self.more_ranks);
  }
  friend bool operator==(const ForksRefused&, const ForksRefused&) = default;
};

struct ForksRefusedInContainer {  // to all its ranks together
  static constexpr std::string_view kCode = "forks_refused_in_container";
  long long refused = 0;
  long long limit = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("refused", self.refused);
    see("limit", self.limit);
  }
  friend bool operator==(const ForksRefusedInContainer&, const ForksRefusedInContainer&) = default;
};

struct ForksRefusedOnNode {  // to all its jobs together
  static constexpr std::string_view kCode = "forks_refused_on_node";
  long long refused = 0;
  long long limit = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("refused", self.refused);
    see("limit", self.limit);
  }
  friend bool operator==(const ForksRefusedOnNode&, const ForksRefusedOnNode&) = default;
};

struct LogsAreCut {
  static constexpr std::string_view kCode = "logs_are_cut";
  Bytes lost;
  int rank = 0;  // the first of `ranks` whose output is not kept any more
  int ranks = 0;
  Bytes limit;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("lost", self.lost);
    see("rank", self.rank);
    see("ranks", self.ranks);
    see("limit", self.limit);
  }
  friend bool operator==(const LogsAreCut&, const LogsAreCut&) = default;
};

// ---- places and settings ------------------------------------------------------------------------
struct FolderDiffers {  // of the job, from those on other nodes or in other attempts
  static constexpr std::string_view kCode = "folder_differs";
  std::string folder;
  bool in_each_attempt = false;  // else on each node
  std::string said;              // why it cannot be at the job's path
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("folder", self.folder);
    see("in_each_attempt", self.in_each_attempt);
    see("said", self.said);
  }
  friend bool operator==(const FolderDiffers&, const FolderDiffers&) = default;
};

// Variables of the ranks' network with one mistake.
struct SettingIsMistaken {
  static constexpr std::string_view kCode = "setting_is_mistaken";
  std::vector<std::string> variables;
  bool is_ours = false;         // Lockstep set them
  bool is_interface = false;    // they name interfaces
  std::string other_interface;  // that the ranks use without them; "": unknown
  std::string set_for;          // see NetworkSetting::reason
  std::string said;             // see NetworkSetting::warning
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("variables", self.variables);
    see("is_ours", self.is_ours);
    see("is_interface", self.is_interface);
    see("other_interface", self.other_interface);
    see("set_for", self.set_for);
    see("said", self.said);
  }
  friend bool operator==(const SettingIsMistaken&, const SettingIsMistaken&) = default;
};

// ---- core files ---------------------------------------------------------------------------------
struct CoreFileIsKept {
  static constexpr std::string_view kCode = "core_file_is_kept";
  int rank = 0;
  std::string file;
  Bytes size;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("rank", self.rank);
    see("file", self.file);
    see("size", self.size);
  }
  friend bool operator==(const CoreFileIsKept&, const CoreFileIsKept&) = default;
};

struct NoCoreFile {
  static constexpr std::string_view kCode = "no_core_file";
  int rank = 0;
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("rank", self.rank);
    see("why", self.why);
  }
  friend bool operator==(const NoCoreFile&, const NoCoreFile&) = default;
};

// Who gets the node's core files instead, by kernel.core_pattern.
enum class CoreTaker { nobody, program, socket };
std::string_view to_string(CoreTaker taker);
constexpr CoreTaker last_enumerator(CoreTaker) { return CoreTaker::socket; }

struct CoresGoElsewhere {
  static constexpr std::string_view kCode = "cores_go_elsewhere";
  CoreTaker taker = CoreTaker::nobody;
  std::string program;
  bool of_container = false;  // the program is outside of it
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("taker", self.taker);
    see("program", self.program);
    see("of_container", self.of_container);
  }
  friend bool operator==(const CoresGoElsewhere&, const CoresGoElsewhere&) = default;
};

struct CoreToolNotStarted {
  static constexpr std::string_view kCode = "core_tool_not_started";
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const CoreToolNotStarted&, const CoreToolNotStarted&) = default;
};

struct CoreWasNotRead {
  static constexpr std::string_view kCode = "core_was_not_read";
  std::optional<Duration> within = {};  // absent: the part ended first
  bool was_begun = false;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("within", self.within);
    see("was_begun", self.was_begun);
  }
  friend bool operator==(const CoreWasNotRead&, const CoreWasNotRead&) = default;
};

struct CoreFileNotFound {
  static constexpr std::string_view kCode = "core_file_not_found";
  int rank = 0;
  bool is_written = false;  // the kernel says that it wrote one
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("rank", self.rank);
    see("is_written", self.is_written);
  }
  friend bool operator==(const CoreFileNotFound&, const CoreFileNotFound&) = default;
};

struct CoreFileIsTooLarge {
  static constexpr std::string_view kCode = "core_file_is_too_large";
  int rank = 0;
  Bytes size;
  Bytes most;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("rank", self.rank);
    see("size", self.size);
    see("most", self.most);
  }
  friend bool operator==(const CoreFileIsTooLarge&, const CoreFileIsTooLarge&) = default;
};

struct CoreFileNotWritten {
  static constexpr std::string_view kCode = "core_file_not_written";
  int rank = 0;
  Bytes size;
  std::string file;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("rank", self.rank);
    see("size", self.size);
    see("file", self.file);
  }
  friend bool operator==(const CoreFileNotWritten&, const CoreFileNotWritten&) = default;
};

struct NoStackTool {  // eu-stack or gdb
  static constexpr std::string_view kCode = "no_stack_tool";
  int rank = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("rank", self.rank);
  }
  friend bool operator==(const NoStackTool&, const NoStackTool&) = default;
};

using NoteReasons =
    List<MemoryIsNotLimited, EngineLimitsNoMemory, RankIsOutsideCgroup, ProcessesAreNotLimited,
         ForksRefused, ForksRefusedInContainer, ForksRefusedOnNode, LogsAreCut, FolderDiffers,
         SettingIsMistaken, CoreFileIsKept, NoCoreFile, CoresGoElsewhere, CoreToolNotStarted,
         CoreWasNotRead, CoreFileNotFound, CoreFileIsTooLarge, CoreFileNotWritten, NoStackTool>;

}  // namespace lockstep
