#include "agent/workspace/collect/collect.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <optional>

#include "agent/workspace/collect/collect_impl.h"
#include "agent/workspace/collect/made_files.h"
#include "agent/workspace/collect/open_below.h"
#include "agent/workspace/collect/output_folder.h"
#include "agent/workspace/collect/rank_folders.h"
#include "agent/workspace/collect/torn.h"
#include "agent/workspace/collect/write_back.h"
#include "common/base/quoted_name.h"
#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/io/files/act_as.h"
#include "common/io/process.h"
#include "common/snapshot/capture/scan.h"

namespace lockstep::agent {

namespace {

using snapshot::Directory;
using snapshot::EntryKind;
using snapshot::LowerTree;
constexpr Duration kUserIsFresh = minutes(1);
constexpr std::string_view kCheckpointWasTorn =
    "a file of it was being rewritten when its rank was killed: the checkpoint before that is kept";

}  // namespace

void list_problems(const snapshot::Snapshot& tree, CollectedOutput& out) {
  for (const snapshot::SkippedPath& skipped : tree.skipped) {
    if (out.problems.size() == kMaxOutputProblems) break;
    out.problems.push_back(
        fmt::format("{} was left out: {}", quoted_name(skipped.path), skipped.pattern));
  }
  if (tree.skipped.size() > kMaxOutputProblems)
    out.problems.push_back(fmt::format("and {} more", tree.skipped.size() - kMaxOutputProblems));
}

Result<Collected> Collector::run() {
  Collected collected;
  io::Fd base = open_base(written_below(plan_, parts_.directory));
  if (!base) return collected;
  for (const Place& place : places_of(parts_.assignment.spec)) {
    CollectedOutput out;
    out.kind = place.kind;
    out.name = place.name;
    const Status done = collect(place, base, out);
    if (done && out.tree) write_to_datastore(place, base, out);
    TRY(take(done, std::move(out), collected));
  }
  CollectedOutput kept;
  kept.kind = OutputKind::kept;
  // The folder is the agent's, so it is opened before the thread acts as the job's user.
  io::Fd staged = plan_.tree.empty() ? io::Fd() : open_base(plan_.tree);
  const auto not_kept = collect_made(std::move(base), std::move(staged), kept);
  TRY(take(not_kept ? Status() : Status(not_kept.error()), std::move(kept), collected));
  const bool says = not_kept && *not_kept != NotKept();
  if (says) collected.not_kept = *not_kept;
  return collected;
}

// The launcher already has the output, so a failure here loses nothing.
void Collector::write_to_datastore(const Place& place, const io::Fd& base, CollectedOutput& out) {
  const JobSpec& spec = parts_.assignment.spec;
  for (const OutputSpec& output : spec.outputs) {
    if (place.kind != OutputKind::named || output.name != place.name || !output.place) continue;
    parts_.tell(fmt::format("writing {} to {}", describe(place.kind, place.name), output.path));
    const std::string& job = parts_.assignment.attempt.job.value;
    const auto node = one_of_nodes(parts_.assignment, parts_.directory);
    add_problems(write_back(base, output, job, user_, node, &rules_), output, out.problems);
  }
}

Status Collector::take(const Status& done, CollectedOutput out, Collected& collected) {
  if (!done) {
    if (done.error().code == ErrorCode::unavailable) return done.error();
    out.tree.reset();
    out.problems.push_back(done.error().message);
  }
  if (out.tree || !out.problems.empty()) collected.outputs.push_back(std::move(out));
  return {};
}

Result<NotKept> Collector::collect_made(io::Fd base, io::Fd staged, CollectedOutput& out) {
  TRY_ASSIGN(const io::ActAs user, io::ActAs::begin(user_));
  parts_.tell("looking for files that ranks made outside of ./outputs and ./logs");
  MadeFiles made(std::move(staged), parts_.assignment.spec.keep);
  for (const std::string& folder : followed_) made.leave_out(folder);
  MadeLook look = look_for_made(base, made);
  if (!look.keeps_any && (!look.not_kept.at_least || made.patterns().empty()))
    return std::move(look.not_kept);
  selection_ = &made;
  const Status kept =
      capture_and_push({OutputKind::kept, "", ""}, std::move(base), is_overlay(plan_), {}, out);
  selection_ = nullptr;
  if (!kept && kept.error().code == ErrorCode::unavailable) return kept.error();
  if (!kept) out.problems.push_back(kept.error().message);
  if (made.gave_up())
    out.problems.push_back(
        fmt::format("matching all names against the patterns took more than {}: files may be "
                    "missing; use fewer and simpler patterns",
                    format_duration(kLongestMatching)));
  return std::move(look.not_kept);
}

Result<OutputFolder> Collector::open(const io::Fd& base, const std::string& folder) {
  TRY_ASSIGN(const io::ActAs user, io::ActAs::begin(user_));
  return open_output(base, folder, rules_);
}

Result<std::optional<Look>> Collector::look_at(const io::Fd& base, const std::string& folder) {
  TRY_ASSIGN(OutputFolder found, open(base, folder));
  if (found.opened.what != Opened::What::folder) return std::optional<Look>();
  TRY_ASSIGN(const io::ActAs user, io::ActAs::begin(user_));
  TRY_ASSIGN(const Look look, look_of(std::move(found.opened.fd), folder));
  return std::optional<Look>(look);
}

Status Collector::collect(const Place& place, const io::Fd& base, CollectedOutput& out) {
  TRY_ASSIGN(OutputFolder found, open(base, place.folder));
  Opened& opened = found.opened;
  if (found.is_link && !found.folder.empty()) followed_.push_back(found.folder);
  // The lower tree is in the agent's cache, so it is read before the thread acts as the job's user.
  TRY_ASSIGN(std::optional<LowerTree> lower, lower_of(found.folder));
  TRY_ASSIGN(const io::ActAs user, io::ActAs::begin(user_));
  switch (opened.what) {
    case Opened::What::folder: {
      const CheckpointMemory* const last = parts_.interrupted.checkpoint;
      if (place.kind == OutputKind::checkpoint && last != nullptr && last->told) {
        TRY_ASSIGN(const bool torn, is_torn(opened.fd, *last, parts_.interrupted.killed));
        if (torn) {
          out = *last->told;
          out.problems.emplace_back(kCheckpointWasTorn);
          return {};
        }
      }
      TRY_ASSIGN(const auto torn, torn_files(place, found, parts_.interrupted));
      const bool is_upper = is_overlay(plan_) && !found.folder.empty();
      return capture_and_push(place, std::move(opened.fd), is_upper, std::move(lower), out, torn);
    }
    case Opened::What::other: out.problems.push_back(place.folder + " " + opened.why); return {};
    case Opened::What::hidden: return {};
    case Opened::What::absent:
      if (lower) take_lower_alone(*lower, out);
      if (!lower && found.is_link) out.problems.push_back(place.folder + " " + opened.why);
      return {};
  }
  return {};
}

namespace {

Result<LowerTree> tree_of(const snapshot::Snapshot& captured) {
  LowerTree tree;
  tree.root = captured.root;
  for (const snapshot::DirectoryObject& object : captured.directories) {
    TRY_ASSIGN(tree.directories[object.digest], snapshot::decode_directory(object.bytes));
  }
  return tree;
}

// Checks an output's type. A uri_file is one file with the output's name. If the job wrote
// something else, it is kept as it is.
Status check_type(const Place& place, const snapshot::Snapshot& tree, const Digest& captured,
                  CollectedOutput& out) {
  if (place.type != OutputType::uri_file) return {};
  const auto root = std::find_if(
      tree.directories.begin(), tree.directories.end(),
      [&](const snapshot::DirectoryObject& object) { return object.digest == captured; });
  if (root == tree.directories.end()) return {};
  TRY_ASSIGN(const Directory folder, snapshot::decode_directory(root->bytes));
  const snapshot::Entry* written = nullptr;
  for (const snapshot::Entry& entry : folder.entries)
    if (entry.name == place.name) written = &entry;
  if (written != nullptr && written->kind == EntryKind::symlink) {
    out.problems.push_back(
        fmt::format("it is a symlink to {}, and what that leads to is not kept (write a file to "
                    "the path itself, or copy it there)",
                    quoted_name(written->target)));
    return {};
  }
  if (written != nullptr && written->kind != EntryKind::directory) return {};
  out.problems.push_back(
      written != nullptr
          ? fmt::format(
                "its type is uri_file, but the job wrote a folder at its path; it is kept as a "
                "folder (write a file to the path, or declare the output as uri_folder)")
          : fmt::format("its type is uri_file, but there is no file at its path; its folder holds "
                        "{} (write to the path itself, or declare the output as uri_folder)",
                        folder.entries.empty() ? "nothing" : quoted_name(folder.entries[0].name)));
  return {};
}

// Files that were torn keep an earlier, whole version in a tree beside the captured one.
Status set_aside_whole(const std::vector<snapshot::TornFile>& torn, snapshot::Snapshot& tree,
                       CollectedOutput& out) {
  std::vector<snapshot::TornFile> aside;
  std::copy_if(torn.begin(), torn.end(), std::back_inserter(aside),
               [](const snapshot::TornFile& file) { return file.whole != nullptr; });
  if (!aside.empty()) {
    TRY_ASSIGN(out.pieces, snapshot::set_aside(aside, tree));
  }
  return {};
}

}  // namespace

// Records a tree that the launcher has. `captured`: its root before any file was set aside.
Status Collector::take_tree(const Place& place, const snapshot::Snapshot& tree,
                            const Digest& captured, const std::vector<snapshot::TornFile>& torn,
                            CollectedOutput& out) {
  out.tree = tree.root;
  out.files = tree.files.size() + tree.lower_files;
  out.size.count = tree.total.count + tree.lower_total.count;
  list_problems(tree, out);
  list_torn(torn, out);
  TRY(check_type(place, tree, captured, out));
  if (memory_ != nullptr) {
    TRY_ASSIGN(memory_->tree, tree_of(tree));
  }
  return {};
}

Status Collector::capture_and_push(const Place& place, io::Fd folder, bool is_upper,
                                   std::optional<LowerTree> lower, CollectedOutput& out,
                                   const std::vector<snapshot::TornFile>& torn) {
  if (!lower && is_empty(folder)) return {};
  const std::string shown = describe(place.kind, place.name);
  const auto progress = [&](const transfer::Progress& done) {
    constexpr double kMebibyte = 1 << 20;
    parts_.tell(fmt::format("collecting {}: {:.1f}/{:.1f} MiB", shown,
                            static_cast<double>(done.done_bytes) / kMebibyte,
                            static_cast<double>(done.total_bytes) / kMebibyte));
  };
  parts_.tell("collecting " + shown);
  for (int captures = 1;; ++captures) {
    io::Fd again(::openat(folder.get(), ".", kFolderFlags));
    if (place.kind == OutputKind::checkpoint)
      out.order = static_cast<std::uint64_t>(io::since_boot().count());
    TRY_ASSIGN(snapshot::Snapshot tree,
               snapshot::capture_tree(std::move(again), place.folder,
                                      {is_upper, lower, false, previous_, {}, selection_}));
    const Digest captured = tree.root;
    TRY(set_aside_whole(torn, tree, out));
    const bool is_empty_selection =
        selection_ != nullptr && tree.files.empty() && tree.symlinks == 0 && tree.folders == 0;
    if (is_empty_selection) {
      list_problems(tree, out);
      return {};
    }
    const Status pushed = parts_.sink.push(tree, progress);
    const bool changed = !pushed && pushed.error().code == ErrorCode::conflict;
    if (changed && captures < kMaxCaptures) continue;
    if (!pushed) return pushed.error();
    return take_tree(place, tree, captured, torn, out);
  }
}

// The job did not touch the folder: it is as in the snapshot, which the launcher has.
void Collector::take_lower_alone(const LowerTree& lower, CollectedOutput& out) {
  const auto count = [&](const auto& self, const Digest& digest) -> void {
    for (const snapshot::Entry& entry : lower.directories.at(digest).entries) {
      if (entry.kind == EntryKind::directory) self(self, entry.digest);
      if (entry.kind != EntryKind::file) continue;
      ++out.files;
      out.size.count += entry.size;
    }
  };
  count(count, lower.root);
  if (!lower.directories.at(lower.root).entries.empty()) out.tree = lower.root;
}

// ---- the source tree below ------------------------------------------------------------------

Result<std::optional<LowerTree>> Collector::lower_of(const std::string& folder) {
  const bool has_lower = is_overlay(plan_) && parts_.assignment.spec.snapshot && !folder.empty();
  if (!has_lower) return std::optional<LowerTree>();
  TRY_ASSIGN(const std::optional<Digest> root, find_lower(folder));
  if (!root) return std::optional<LowerTree>();
  LowerTree tree;
  tree.root = *root;
  TRY(load(*root, tree, 0));
  return std::optional<LowerTree>(std::move(tree));
}

Result<std::optional<Digest>> Collector::find_lower(const std::string& folder) {
  // Most source trees lack the folder; one stat saves reading the objects.
  if (!io::exists(plan_.tree + "/" + folder)) return std::optional<Digest>();
  Digest at = *parts_.assignment.spec.snapshot;
  for (std::size_t from = 0; from <= folder.size();) {
    const auto slash = std::min(folder.find('/', from), folder.size());
    const std::string name = folder.substr(from, slash - from);
    TRY_ASSIGN(const std::string bytes, parts_.read_object(at));
    TRY_ASSIGN(const Directory directory, snapshot::decode_directory(bytes));
    const snapshot::Entry* found = nullptr;
    for (const snapshot::Entry& entry : directory.entries)
      if (entry.name == name && entry.kind == EntryKind::directory) found = &entry;
    if (found == nullptr) return std::optional<Digest>();
    at = found->digest;
    from = slash + 1;
  }
  return std::optional<Digest>(at);
}

Status Collector::load(const Digest& digest, LowerTree& tree, int depth) {
  if (tree.directories.count(digest) != 0) return {};
  if (depth > snapshot::kMaxTreeDepth)
    return make_error(ErrorCode::corrupt, "the source tree is too deep");
  TRY_ASSIGN(const std::string bytes, parts_.read_object(digest));
  TRY_ASSIGN(Directory directory, snapshot::decode_directory(bytes));
  const Directory& held = tree.directories.emplace(digest, std::move(directory)).first->second;
  for (const snapshot::Entry& entry : held.entries)
    if (entry.kind == EntryKind::directory) TRY(load(entry.digest, tree, depth + 1));
  return {};
}

namespace {

Result<io::User> user_of(const std::string& run_as) {
  return run_as.empty() ? io::current_user() : io::find_user(run_as);
}

}  // namespace

Result<std::vector<CollectedOutput>> capture_so_far(const CollectParts& parts,
                                                    SoFarMemory& memory) {
  auto plan = plan_of(parts.directory);
  if (!plan) return std::vector<CollectedOutput>();
  // User databases on the network are not asked every second.
  if (!memory.user || io::since_boot() - memory.user_since > kUserIsFresh) {
    TRY_ASSIGN(memory.user, user_of(parts.assignment.spec.run_as));
    memory.user_since = io::since_boot();
  }
  return Collector(parts, *std::move(plan), *memory.user).capture_so_far(memory);
}

Result<CapturedCheckpoint> capture_checkpoint(const CollectParts& parts, CheckpointMemory& memory,
                                              bool insist) {
  auto plan = plan_of(parts.directory);
  if (!plan) return CapturedCheckpoint();
  TRY_ASSIGN(io::User user, user_of(parts.assignment.spec.run_as));
  return Collector(parts, *std::move(plan), std::move(user)).capture_checkpoint(memory, insist);
}

Result<Collected> collect_outputs(const CollectParts& parts) {
  auto plan = plan_of(parts.directory);
  if (!plan) return Collected();
  TRY_ASSIGN(io::User user, user_of(parts.assignment.spec.run_as));
  return Collector(parts, *std::move(plan), std::move(user)).run();
}

}  // namespace lockstep::agent
