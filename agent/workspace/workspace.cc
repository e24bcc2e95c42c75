#include "agent/workspace/workspace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <variant>

#include "agent/workspace/abilities.h"
#include "agent/workspace/restore.h"
#include "agent/workspace/room.h"
#include "agent/workspace/stage_inputs.h"
#include "agent/workspace/trees/copy_tree.h"
#include "common/io/attempt/working_place.h"
#include "common/io/clock.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "common/snapshot/checkout/materialize.h"
#include "common/snapshot/content/blob_store.h"

namespace lockstep::agent {

namespace {

using Mode = WorkspacePlan::Mode;

Result<Mode> mode_of(const std::string& workdir_mode) {
  if (workdir_mode == "overlay") return Mode::overlay;
  if (workdir_mode == "overlay-userns") return Mode::overlay_userns;
  if (workdir_mode == "reflink" || workdir_mode == "copy") return Mode::ready;
  return make_error(ErrorCode::invalid_argument, "unknown working directory mode " + workdir_mode);
}

// A container's engine sees none of the runner's mounts; it gets a list of mounts of its own.
bool runs_in_container(const JobSpec& spec) {
  return spec.environment &&
         std::holds_alternative<DockerEnvironment>(spec.environment->definition);
}

// A folder that an interrupted staging left gets the right owner and mode, too.
Status make_folder(const std::string& path, const snapshot::Owner& owner, mode_t mode) {
  if (io::disk::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return errno_error(errno, "cannot make " + path);
  }
  const io::Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return errno_error(errno, "cannot open " + path);
  const snapshot::Owner ours = snapshot::current_owner();
  const bool is_ours = owner.uid == ours.uid && owner.gid == ours.gid;
  if (!is_ours && ::fchown(fd.get(), owner.uid, owner.gid) != 0) {
    return errno_error(errno, "cannot change the owner of " + path);
  }
  if (::fchmod(fd.get(), mode) != 0) return errno_error(errno, "cannot set the mode of " + path);
  return {};
}

// Reports "fetching 3.1/12.0 MiB (2 peers)", only when the text changed.
class Teller {
 public:
  explicit Teller(const Workspace::OnProgress& tell) : tell_(tell) {}
  void say(std::string text) {
    if (!tell_ || text == last_) return;
    last_ = std::move(text);
    tell_(last_);
  }
  void fetching(const transfer::Progress& progress) {
    constexpr double kMebibyte = 1 << 20;
    const std::string peers = progress.peers == 0 ? ""
                                                  : fmt::format(" ({} peer{})", progress.peers,
                                                                progress.peers == 1 ? "" : "s");
    say(fmt::format("fetching {:.1f}/{:.1f} MiB{}",
                    static_cast<double>(progress.done_bytes) / kMebibyte,
                    static_cast<double>(progress.total_bytes) / kMebibyte, peers));
  }

 private:
  const Workspace::OnProgress& tell_;
  std::string last_;
};

// Longer than the grace time and the clean-up after it.
constexpr Duration kAwaitEarlier = seconds(60);

// In a container the path may be one that the agent's user could not make on the host.
std::string path_in_container(const JobId& job) {
  const std::string path = io::code_mount_point(job);
  return path.empty() ? "/run/lockstep/jobs/" + io::job_folder_name(job) : path;
}

// The ranks of the earlier attempt have a moment to end. If they take longer, the runner uses
// another path and says so.
void await_earlier_attempt(const io::AttemptDir& directory, const JobId& job, Teller& teller) {
  const Instant end = io::SystemClock().now() + kAwaitEarlier;
  for (const std::string& path : io::working_places(directory, job)) {
    io::SystemClock clock;
    while (io::is_held_by_same_job(path, directory, job) && clock.now() < end) {
      teller.say("waiting for the ranks of an earlier attempt of this job to end here");
      std::this_thread::sleep_for(milliseconds(50));
    }
  }
}

}  // namespace

struct Workspace::Impl {
  std::string cache;
  Mode mode = Mode::ready;
  bool can_mount = false;  // runners on this node can have mounts of their own
  bool has_common_path = false;
  std::unique_ptr<snapshot::BlobStore> blobs;
  std::unique_ptr<snapshot::TreeCache> trees;
  std::unique_ptr<BlobCacheLimit> cache_limit;
  std::unique_ptr<RoomCheck> room;
  std::atomic<bool> grown = true;  // since the cache limit was last checked

  std::mutex mutex;
  std::condition_variable changed;
  std::set<Digest> fetching;

  Result<std::string> tree(const Digest& root, const snapshot::MaterializeOptions& options,
                           BlobSource& source, Teller& teller);
  Status stage_data(const Assignment& assignment, const io::AttemptDir& directory,
                    BlobSource& source, Teller& teller, WorkspacePlan& plan);
  Status fetch(const Digest& root, BlobSource& source, Teller& teller,
               const transfer::Admit& admit = {});
  Result<std::string> read_object(const Digest& digest, const Assignment& assignment,
                                  BlobSource& source, Teller& teller);
  Error explained(Error error) const;
  Status lay_out(const io::AttemptDir& directory, const snapshot::Owner& owner, Mode plan) const;
  Status fill_code(const io::AttemptDir& directory, const std::string& tree,
                   const snapshot::Owner& owner, Teller& teller) const;
};

Workspace::Workspace(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Workspace::~Workspace() = default;

Result<std::unique_ptr<Workspace>> Workspace::open(const WorkspaceConfig& config) {
  auto impl = std::make_unique<Impl>();
  TRY_ASSIGN(impl->mode, mode_of(config.workdir_mode));
  impl->can_mount = impl->mode != Mode::ready || can_unshare_mounts();
  impl->has_common_path = has_common_path();
  impl->cache = config.cache;
  TRY(io::make_directories(config.cache, 0700));
  TRY_ASSIGN(impl->blobs,
             snapshot::BlobStore::open(config.cache + "/blobs", snapshot::BlobStore::Mode::cache));
  TRY_ASSIGN(impl->trees, snapshot::TreeCache::open(config.cache + "/trees"));
  impl->blobs->on_damage([trees = impl->trees.get()](const auto& file) {
    for (const std::string& path : trees->set_aside(file))
      spdlog::warn(
          "a file of the tree {} is damaged: the next part that needs the tree gets a "
          "new one; check this node's disk",
          path);
  });
  impl->cache_limit =
      std::make_unique<BlobCacheLimit>(config.limit, config.cache, *impl->blobs, *impl->trees);
  impl->room =
      std::make_unique<RoomCheck>(config.cache, *impl->blobs, *impl->cache_limit, config.low_space);
  return std::unique_ptr<Workspace>(new Workspace(std::move(impl)));
}

snapshot::BlobStore& Workspace::blobs() { return *impl_->blobs; }

bool Workspace::cache_has_grown() { return impl_->grown.exchange(false); }

Status Workspace::keep_cache_small() {
  TRY(impl_->blobs->sync());  // makes the blobs durable first
  return impl_->cache_limit->keep();
}

Result<WorkspacePlan> Workspace::stage(const Assignment& assignment,
                                       const io::AttemptDir& directory, BlobSource& source,
                                       const OnProgress& progress) {
  Teller teller(progress);
  TRY_ASSIGN(const snapshot::Owner owner, owner_for(assignment.spec.run_as));
  TRY(io::make_directories(directory.path(), 0711));
  WorkspacePlan plan;
  const bool in_container = runs_in_container(assignment.spec);
  // A job without a snapshot has neither a tree to overlay nor files to copy.
  plan.mode = assignment.spec.snapshot && !in_container ? impl_->mode : Mode::ready;
  TRY(impl_->lay_out(directory, owner, plan.mode));
  if (assignment.spec.snapshot) {
    snapshot::MaterializeOptions options;
    options.owner = owner;
    auto tree = impl_->tree(*assignment.spec.snapshot, options, source, teller);
    if (!tree) return impl_->explained(tree.error());
    plan.tree = *std::move(tree);
  }
  if (plan.mode == Mode::ready) TRY(impl_->fill_code(directory, plan.tree, owner, teller));
  if (assignment.checkpoint) {
    snapshot::MaterializeOptions options;
    options.owner = owner;
    TRY_ASSIGN(
        plan.restored,
        restore_checkpoint(
            {*assignment.checkpoint, *impl_->blobs, source, owner, directory.checkpoint_beside(),
             plan.mode == Mode::ready ? directory.code() : directory.upper(),
             [&](const std::string& text) { teller.say(text); },
             [&](const Digest& tree) { return impl_->room->for_tree(tree, options); }}));
  }
  TRY(impl_->stage_data(assignment, directory, source, teller, plan));
  // The engine makes this path in the container.
  if (in_container)
    plan.mount_point = path_in_container(assignment.attempt.job);
  else
    plan.mount_point = impl_->has_common_path
                           ? io::code_mount_point(assignment.attempt.job)
                           : io::working_places(directory, assignment.attempt.job).back();
  if (!impl_->can_mount && !in_container)
    await_earlier_attempt(directory, assignment.attempt.job, teller);
  return plan;
}

Result<std::string> Workspace::Impl::read_object(const Digest& digest, const Assignment& assignment,
                                                 BlobSource& source, Teller& teller) {
  auto object = blobs->get(digest);
  if (object || !assignment.spec.snapshot) return object;
  // The blob was damaged, or was removed from the cache since.
  TRY(fetch(*assignment.spec.snapshot, source, teller));
  return blobs->get(digest);
}

Result<Collected> Workspace::collect(const Assignment& assignment, const io::AttemptDir& directory,
                                     BlobSource& source, OutputSink& sink,
                                     const OnProgress& progress, const Interrupted& interrupted) {
  Teller teller(progress);
  return collect_outputs(
      {assignment, directory,
       [&](const Digest& digest) { return impl_->read_object(digest, assignment, source, teller); },
       sink, [&](const std::string& text) { teller.say(text); }, interrupted});
}

Result<std::vector<CollectedOutput>> Workspace::capture_so_far(const Assignment& assignment,
                                                               const io::AttemptDir& directory,
                                                               BlobSource& source, OutputSink& sink,
                                                               SoFarMemory& memory) {
  const OnProgress nobody;
  Teller teller(nobody);
  const auto read = [&](const Digest& digest) {
    return impl_->read_object(digest, assignment, source, teller);
  };
  return lockstep::agent::capture_so_far({assignment, directory, read, sink, [](const auto&) {}},
                                         memory);
}

Result<CapturedCheckpoint> Workspace::capture_checkpoint(const Assignment& assignment,
                                                         const io::AttemptDir& directory,
                                                         BlobSource& source, OutputSink& sink,
                                                         CheckpointMemory& memory, bool insist) {
  const OnProgress nobody;
  Teller teller(nobody);
  const auto read = [&](const Digest& digest) {
    return impl_->read_object(digest, assignment, source, teller);
  };
  return lockstep::agent::capture_checkpoint(
      {assignment, directory, read, sink, [](const auto&) {}}, memory, insist);
}

Status Workspace::Impl::lay_out(const io::AttemptDir& directory, const snapshot::Owner& owner,
                                Mode plan) const {
  const snapshot::Owner ours = snapshot::current_owner();
  // Other accounts of the machine cannot enter it, whatever the modes inside.
  TRY(make_folder(directory.path(), {ours.uid, owner.gid}, 0710));
  TRY(make_folder(directory.logs(), ours, 0700));  // the runner writes there, not the ranks
  TRY(make_folder(directory.tmp(), owner, 0700));
  if (plan == Mode::ready) return {};
  // Members of the user's group can enter the attempt's folder; files of the ranks stay the user's
  // alone.
  TRY(make_folder(directory.code(), owner, 0700));
  // The upper folder's owner and mode are those of the overlay's root, and ranks must be able to
  // write there.
  TRY(make_folder(directory.upper(), owner, 0700));
  return make_folder(directory.overlay_work(), ours, 0700);
}

// Only a person can remove this cause, so the error says what to do.
Error Workspace::Impl::explained(Error error) const {
  if (!io::exists(cache + "/trees") || !io::exists(cache + "/blobs"))
    error.message += fmt::format(
        "; {} was removed while this agent runs: restart the agent (running jobs continue)", cache);
  return error;
}

// The agent owns the trees of inputs: jobs of all users share one.
Status Workspace::Impl::stage_data(const Assignment& assignment, const io::AttemptDir& directory,
                                   BlobSource& source, Teller& teller, WorkspacePlan& plan) {
  if (assignment.spec.data.empty()) return {};
  const std::string& run_as = assignment.spec.run_as;
  TRY_ASSIGN(const io::User user, run_as.empty() ? io::current_user() : io::find_user(run_as));
  snapshot::MaterializeOptions options;
  options.for_all = true;
  const bool in_container = runs_in_container(assignment.spec);
  TRY_ASSIGN(MountedInputs mounted,
             stage_inputs({assignment.spec.data, directory,
                           plan.mode == Mode::ready ? directory.code() : directory.upper(), user,
                           can_mount || in_container, in_container,
                           [&](const Digest& root) { return tree(root, options, source, teller); },
                           [&](const std::string& text) { teller.say(text); },
                           [&](const std::string& path) { return room->for_copy(path); },
                           [&](Bytes size) { return room->for_copy(size); }}));
  plan.inputs = std::move(mounted.trees);
  plan.placed = std::move(mounted.placed);
  return {};
}

Result<std::string> Workspace::Impl::tree(const Digest& root,
                                          const snapshot::MaterializeOptions& options,
                                          BlobSource& source, Teller& teller) {
  if (std::string path = trees->find(root, options); !path.empty()) return path;
  grown = true;
  for (int tries = 0;; ++tries) {
    TRY(fetch(root, source, teller,
              [&](Bytes missing) { return room->for_tree(root, options, missing); }));
    teller.say("writing the source tree");
    auto path = trees->get(*blobs, root, options);
    // The store dropped a damaged blob of its cache. The second try fetches it from the launcher.
    const bool was_damaged = !path && (path.error().code == ErrorCode::corrupt ||
                                       path.error().code == ErrorCode::not_found);
    if (path || !was_damaged || tries > 0) return path;
  }
}

// Attempts with the same snapshot wait for one fetch.
Status Workspace::Impl::fetch(const Digest& root, BlobSource& source, Teller& teller,
                              const transfer::Admit& admit) {
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return fetching.count(root) == 0; });
    fetching.insert(root);
  }
  Result<std::vector<snapshot::BlobWanted>> missing = blobs->missing_blobs_from(root);
  Status fetched = missing ? Status() : Status(missing.error());
  if (missing && !missing->empty()) {
    fetched = source.fetch_tree(
        root, *blobs, [&](const transfer::Progress& progress) { teller.fetching(progress); },
        admit);
  } else if (missing && admit) {
    fetched = admit({});
  }
  {
    std::lock_guard guard(mutex);
    fetching.erase(root);
  }
  changed.notify_all();
  if (!fetched) return fetched.error().within("cannot fetch the source tree");
  return {};
}

// Copies beside code/ and renames, so code/ is either complete or absent.
Status Workspace::Impl::fill_code(const io::AttemptDir& directory, const std::string& tree,
                                  const snapshot::Owner& owner, Teller& teller) const {
  const std::string beside = directory.code() + ".part";
  TRY(io::remove_tree(beside));
  TRY(io::remove_tree(directory.code()));
  if (tree.empty()) return make_folder(directory.code(), owner, 0700);
  teller.say("copying the source tree");
  TRY(room->for_copy(tree));
  TRY(copy_tree(tree, beside, owner));
  TRY(make_folder(beside, owner, 0700));  // overrides the mode that the snapshot's root has
  if (io::disk::rename(beside.c_str(), directory.code().c_str()) != 0) {
    return errno_error(errno, fmt::format("cannot move {} to {}", beside, directory.code()));
  }
  return {};
}

}  // namespace lockstep::agent
