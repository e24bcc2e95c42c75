#pragma once
// Finds files that ranks were rewriting when they were killed, so that no half-written file counts
// as complete. Call it with the rights of the job's user (io::ActAs).

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/workspace/collect/capture_memory.h"
#include "agent/workspace/collect/output_folder.h"
#include "agent/workspace/collect/rank_folders.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/data/outputs.h"
#include "common/io/file_system.h"
#include "common/snapshot/live/torn_files.h"

namespace lockstep::agent {

// Everything about a folder but its content.
struct Look {
  Digest digest;
  std::int64_t newest_ns = 0;  // wall clock: the last time at which a file of it was touched
  std::map<std::string, snapshot::FileIdentity> files;  // the files by path
};

Result<Look> look_of(io::Fd folder, std::string_view shown_as);

// Whether a file of the checkpoint's last capture was being rewritten in place when a rank was
// killed. One that only grew was not.
Result<bool> is_torn(const io::Fd& checkpoint, const CheckpointMemory& memory,
                     const std::vector<Instant>& killed);

// Finds such files of an output, and files that were written just then without a complete version
// before (for a checkpoint only these). In ./logs it finds none: a log is always being written, and
// has its own name.
Result<std::vector<snapshot::TornFile>> torn_files(const Place& place, const OutputFolder& found,
                                                   const Interrupted& at);
// Counts the files that have a complete version, and adds the kept versions of all files to the
// output's problems.
void list_torn(const std::vector<snapshot::TornFile>& torn, CollectedOutput& out);

}  // namespace lockstep::agent
