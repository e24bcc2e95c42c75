#include "agent/workspace/collect/collect.h"

#include <fcntl.h>

#include <ctime>
#include <optional>

#include "agent/workspace/collect/collect_impl.h"
#include "agent/workspace/collect/made_files.h"
#include "agent/workspace/collect/open_below.h"
#include "agent/workspace/collect/output_folder.h"
#include "agent/workspace/collect/rank_folders.h"
#include "agent/workspace/collect/torn.h"
#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/io/files/act_as.h"

namespace lockstep::agent {

namespace {

using snapshot::LowerTree;

constexpr Duration kAtRest = seconds(1);  // how long a checkpoint must be unchanged

std::int64_t wall_clock_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Result<std::vector<CollectedOutput>> Collector::capture_so_far(SoFarMemory& memory) {
  std::vector<CollectedOutput> changed;
  const io::Fd base = open_base(written_below(plan_, parts_.directory));
  if (!base) return changed;
  std::optional<Error> failed;
  for (const Place& place : places_of(parts_.assignment.spec)) {
    auto captured = capture_so_far(place, base, memory.places[{place.kind, place.name}]);
    if (captured) {
      if (*captured) changed.push_back(**std::move(captured));
      continue;
    }
    failed = captured.error();
    if (failed->code == ErrorCode::unavailable) break;  // the others would fail, too
  }
  if (changed.empty() && failed) return *std::move(failed);
  return changed;
}

Result<std::optional<CollectedOutput>> Collector::capture_so_far(const Place& place,
                                                                 const io::Fd& base,
                                                                 SoFarMemory::Place& memory) {
  TRY_ASSIGN(OutputFolder found, open(base, place.folder));
  const bool is_lost = found.opened.what == Opened::What::other;
  const std::string problem = is_lost ? place.folder + " " + found.opened.why : "";
  if (std::exchange(memory.problem, problem) != problem && is_lost) {
    CollectedOutput out;
    out.kind = place.kind;
    out.name = place.name;
    out.problems.push_back(problem);
    return std::optional<CollectedOutput>(std::move(out));
  }
  // Checkpoints have rules of their own for when they are captured.
  if (found.opened.what != Opened::What::folder || place.kind == OutputKind::checkpoint)
    return std::optional<CollectedOutput>();
  if (memory.folder != found.folder) {
    memory.capture = {};
    memory.options = {};
    memory.options.is_upper = is_overlay(plan_) && !found.folder.empty();
    TRY_ASSIGN(memory.options.lower, lower_of(found.folder));
    memory.folder = found.folder;
  }
  return capture_live(place, std::move(found.opened.fd), memory);
}

Result<std::optional<CollectedOutput>> Collector::capture_live(const Place& place, io::Fd folder,
                                                               SoFarMemory::Place& memory) {
  TRY_ASSIGN(const io::ActAs user, io::ActAs::begin(user_));
  for (int captures = 1;; ++captures) {
    io::Fd again(::openat(folder.get(), ".", kFolderFlags));
    TRY_ASSIGN(auto live, memory.capture.capture(std::move(again), place.folder, memory.options,
                                                 {io::since_boot(), wall_clock_ns()}));
    if (!live) return std::optional<CollectedOutput>();
    const Status pushed = parts_.sink.push(live->tree, [](const auto&) {});
    const bool changed = !pushed && pushed.error().code == ErrorCode::conflict;
    if (!pushed) memory.capture.not_sent(changed);
    if (changed && captures < kMaxCaptures) continue;
    if (!pushed) return pushed.error();
    memory.capture.sent();
    CollectedOutput out;
    out.kind = place.kind;
    out.name = place.name;
    out.tree = live->tree.root;
    out.pieces = live->pieces;
    out.files = live->files;
    out.partial = live->partial;
    out.size = live->size;
    list_problems(live->tree, out);
    return std::optional<CollectedOutput>(std::move(out));
  }
}

// Captures a checkpoint that is at rest: no file was changed for a moment before the capture, or
// during it.
Result<CapturedCheckpoint> Collector::capture_checkpoint(CheckpointMemory& memory, bool insist) {
  const Place place = {OutputKind::checkpoint, "", std::string(kCheckpointFolder)};
  const io::Fd base = open_base(written_below(plan_, parts_.directory));
  TRY_ASSIGN(const std::optional<Look> look, look_at(base, place.folder));
  CapturedCheckpoint captured;
  if (!look || look->digest == memory.look) return captured;
  captured.busy = !insist && wall_clock_ns() - look->newest_ns < kAtRest.count();
  if (captured.busy) return captured;
  if (insist) {
    TRY_ASSIGN(previous_, previous_of(memory));
  }
  memory_ = &memory;
  CollectedOutput out;
  out.kind = place.kind;
  const Status collected = collect(place, base, out);
  captured.busy = !collected && collected.error().code == ErrorCode::conflict;
  if (captured.busy) return captured;
  if (!collected) return collected.error();
  TRY_ASSIGN(const std::optional<Look> after, look_at(base, place.folder));
  captured.busy = !insist && (!after || after->digest != look->digest);
  if (captured.busy) return captured;
  memory.look = look->digest;
  memory.files = look->files;
  memory.told = out;
  if (out.tree) captured.checkpoint = std::move(out);
  return captured;
}

// The base for comparing: the last capture of this agent, or the checkpoint that the ranks began
// with, or nothing.
Result<LowerTree> Collector::previous_of(const CheckpointMemory& memory) {
  if (memory.tree) return *memory.tree;
  LowerTree tree;
  if (!plan_.restored || !plan_.restored->tree) return tree;
  tree.root = *plan_.restored->tree;
  TRY(load(tree.root, tree, 0));
  return tree;
}

}  // namespace lockstep::agent
