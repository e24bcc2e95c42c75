#pragma once
// Collects the outputs of one part; see collect.h.

#include "agent/workspace/collect/collect.h"

#include <ctime>
#include <optional>

#include "agent/workspace/collect/made_files.h"
#include "agent/workspace/collect/output_folder.h"
#include "agent/workspace/collect/rank_folders.h"
#include "agent/workspace/collect/torn.h"
#include "common/io/file_system.h"
#include "common/io/process.h"

namespace lockstep::agent {

inline constexpr int kMaxCaptures = 3;  // captures of a tree whose files change meanwhile

void list_problems(const snapshot::Snapshot& tree, CollectedOutput& out);

class Collector {
 public:
  Collector(const CollectParts& parts, WorkspacePlan plan, io::User user)
      : parts_(parts),
        plan_(std::move(plan)),
        user_(std::move(user)),
        rules_(link_rules(parts.assignment, plan_, parts.directory, user_)) {}

  Result<Collected> run();
  Result<std::vector<CollectedOutput>> capture_so_far(SoFarMemory& memory);
  Result<CapturedCheckpoint> capture_checkpoint(CheckpointMemory& memory, bool insist);

 private:
  Result<OutputFolder> open(const io::Fd& base, const std::string& folder);
  Result<std::optional<CollectedOutput>> capture_so_far(const Place& place, const io::Fd& base,
                                                        SoFarMemory::Place& memory);
  Result<std::optional<CollectedOutput>> capture_live(const Place& place, io::Fd folder,
                                                      SoFarMemory::Place& memory);
  Result<std::optional<Look>> look_at(const io::Fd& base, const std::string& folder);
  Result<snapshot::LowerTree> previous_of(const CheckpointMemory& memory);
  Result<std::optional<snapshot::LowerTree>> lower_of(const std::string& folder);
  Result<std::optional<Digest>> find_lower(const std::string& folder);
  Status load(const Digest& digest, snapshot::LowerTree& tree, int depth);
  Status collect(const Place& place, const io::Fd& base, CollectedOutput& out);
  Result<NotKept> collect_made(io::Fd base, io::Fd staged, CollectedOutput& out);
  // Writes an output to its datastore. Returns an error if the sink gave up; any other failure is a
  // problem of the output.
  void write_to_datastore(const Place& place, const io::Fd& base, CollectedOutput& out);
  static Status take(const Status& done, CollectedOutput out, Collected& collected);
  Status capture_and_push(const Place& place, io::Fd folder, bool is_upper,
                          std::optional<snapshot::LowerTree> lower, CollectedOutput& out,
                          const std::vector<snapshot::TornFile>& torn = {});
  Status take_tree(const Place& place, const snapshot::Snapshot& tree, const Digest& captured,
                   const std::vector<snapshot::TornFile>& torn, CollectedOutput& out);
  static void take_lower_alone(const snapshot::LowerTree& lower, CollectedOutput& out);

  const CollectParts& parts_;
  const WorkspacePlan plan_;
  const io::User user_;
  const LinkRules rules_;
  std::vector<std::string> followed_;  // folders of the working directory that links led to
  std::optional<snapshot::LowerTree> previous_;  // see TreeOptions
  CheckpointMemory* memory_ = nullptr;           // keeps the captured state
  MadeFiles* selection_ = nullptr;               // chooses the entries to capture; null: all
};

}  // namespace lockstep::agent
