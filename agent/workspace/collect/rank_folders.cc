#include "agent/workspace/collect/rank_folders.h"

#include <utility>

#include "agent/workspace/collect/made_files.h"
#include "agent/workspace/collect/open_below.h"
#include "common/io/attempt/working_place.h"
#include "common/io/file_system.h"
#include "common/wire/runners/runner_codec.h"

namespace lockstep::agent {

using Mode = WorkspacePlan::Mode;

std::vector<Place> places_of(const JobSpec& spec) {
  std::vector<Place> places = {{OutputKind::outputs, "", std::string(kOutputsFolder)},
                               {OutputKind::logs, "", std::string(kLogsFolder)},
                               {OutputKind::checkpoint, "", std::string(kCheckpointFolder)}};
  for (const OutputSpec& output : spec.outputs)
    places.push_back(
        {OutputKind::named, output.name, named_output_folder(output.name), output.type});
  return places;
}

std::optional<WorkspacePlan> plan_of(const io::AttemptDir& directory) {
  const auto bytes = io::read_file(directory.workspace());
  if (!bytes) return std::nullopt;
  auto plan = wire::decode_workspace_plan(*bytes);
  if (!plan) return std::nullopt;
  return *std::move(plan);
}

bool is_overlay(const WorkspacePlan& plan) {
  return plan.mode != Mode::ready && !plan.tree.empty();
}

std::string written_below(const WorkspacePlan& plan, const io::AttemptDir& directory) {
  return plan.mode == Mode::ready ? io::working_directory(directory) : directory.upper();
}

namespace {

bool is_anything_at(const io::Fd& base, const std::string& folder) {
  const Opened opened = open_below(base, folder);
  if (opened.what == Opened::What::folder) return !is_empty(opened.fd);
  return opened.what == Opened::What::other;
}

}  // namespace

bool is_anything_left(const Assignment& assignment, const io::AttemptDir& directory) {
  const auto plan = plan_of(directory);
  if (!plan) return false;
  const io::Fd base = open_base(written_below(*plan, directory));
  if (!base) return false;
  io::Fd below;
  if (is_overlay(*plan)) below = open_base(plan->tree);
  for (const Place& place : places_of(assignment.spec)) {
    if (is_anything_at(base, place.folder)) return true;
    if (below && is_anything_at(below, place.folder)) return true;
  }
  // Only a collection finds the patterns of `keep` that matched nothing.
  if (!assignment.spec.keep.empty()) return true;
  return may_have_made(base, plan->mode == Mode::ready && !plan->tree.empty());
}

}  // namespace lockstep::agent
