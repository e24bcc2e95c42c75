#pragma once
// Stages the source tree of an attempt on this node: fetches blobs that are missing in the cache,
// writes each tree out once per digest and user, and makes the attempt's directories so that the
// runner can mount or use them. It owns <cache>/blobs and <cache>/trees. It mounts nothing; the
// runner does.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "agent/workspace/blob_source.h"
#include "agent/workspace/cache_limit.h"
#include "agent/workspace/collect/collect.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/domain/runners/assignment.h"
#include "common/domain/runners/workspace_plan.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/io/net/transport.h"
#include "common/transfer/fetch_progress.h"
#include "common/transfer/swarm.h"
#include "common/transfer/transfer.h"

namespace lockstep::agent {

// Fetches blobs from the launcher's bulk socket, with a new connection for each tree, and from the
// peers that the launcher names.
class LauncherBlobs final : public BlobSource, public OutputSink {
 public:
  // `transport` must outlive this. `fetch_progress`: tells peers which blobs arrived while a tree
  // is fetched.
  LauncherBlobs(io::Transport& transport, std::string endpoint, PublicKey launcher_key,
                io::KeyPair keys, std::shared_ptr<transfer::FetchProgress> fetch_progress);
  // Peers may fetch from this node at this port. From any thread.
  void serves_at(std::uint16_t port) { port_ = port; }
  // Dials the launcher at this endpoint from now on. From any thread.
  void dial_at(const std::string& endpoint);
  Status fetch_tree(const Digest& root, snapshot::BlobStore& cache,
                    const transfer::OnProgress& progress,
                    const transfer::Admit& admit = {}) override;
  Status fetch(const Digest& root, const std::vector<snapshot::BlobWanted>& wanted,
               snapshot::BlobStore& cache, const transfer::OnProgress& progress) override;
  Status push(const snapshot::Snapshot& tree, const transfer::OnProgress& progress) override;
  // Sends a snapshot for an attempt. `is_final`: its ranks have ended. Otherwise these are its
  // outputs so far, of which the launcher may keep less.
  Status push_for(const AttemptId& attempt, bool is_final, const snapshot::Snapshot& tree,
                  const transfer::OnProgress& progress);
  // Fetches the files of `wanted` that `cache` does not have, from peers and `origin`: see
  // transfer::fetch_files.
  Status fetch_files(const Digest& root, const Digest& lock, const std::set<Digest>& wanted,
                     snapshot::BlobStore& cache, transfer::Origin& origin,
                     const transfer::OnProgress& progress);

 private:
  Result<io::ClientSocket> connect() const;
  Status push(const snapshot::Snapshot& tree, const transfer::OnProgress& progress,
              transfer::TransferOptions options);

  io::Transport& transport_;
  mutable std::mutex mutex_;
  std::string endpoint_;  // guarded by the mutex
  const PublicKey launcher_key_;
  const io::KeyPair keys_;
  const std::shared_ptr<transfer::FetchProgress> fetch_progress_;
  std::atomic<std::uint16_t> port_ = 0;
};

// Says of all that it pushes for which attempt that is.
class AttemptSink final : public OutputSink {
 public:
  // `launcher` must outlive this. `is_final`: see LauncherBlobs::push_for.
  AttemptSink(LauncherBlobs& launcher, AttemptId attempt, bool is_final)
      : launcher_(launcher), attempt_(std::move(attempt)), is_final_(is_final) {}
  Status push(const snapshot::Snapshot& tree, const transfer::OnProgress& progress) override {
    return launcher_.push_for(attempt_, is_final_, tree, progress);
  }

 private:
  LauncherBlobs& launcher_;
  const AttemptId attempt_;
  const bool is_final_;
};

struct WorkspaceConfig {
  std::string cache;         // on the file system of the attempts; made if it does not exist
  std::string workdir_mode;  // from the Inventory: overlay | overlay-userns | reflink | copy
  CacheLimit limit = {};
  Bytes low_space = {};  // the space that staging leaves free; 0 = io::default_low_space
};

class Workspace {
 public:
  // Opens the workspace; returns conflict if another agent uses this cache.
  static Result<std::unique_ptr<Workspace>> open(const WorkspaceConfig& config);
  ~Workspace();

  using OnProgress = std::function<void(const std::string& text)>;
  // Stages an attempt. For worker threads; several may stage at once. It can be repeated for an
  // attempt whose runner has not started. A tree in the cache costs a few system calls.
  Result<WorkspacePlan> stage(const Assignment& assignment, const io::AttemptDir& directory,
                              BlobSource& source, const OnProgress& progress);
  // The cache, for peers to read.
  snapshot::BlobStore& blobs();
  // Returns true once after something was added to the cache: then call keep_cache_small().
  bool cache_has_grown();
  // Removes the least recently used trees while the cache is larger than its limit. For worker
  // threads.
  Status keep_cache_small();
  // Collects the outputs of its ranks after its runner has ended: see collect.h. For worker
  // threads.
  Result<Collected> collect(const Assignment& assignment, const io::AttemptDir& directory,
                            BlobSource& source, OutputSink& sink, const OnProgress& progress,
                            const Interrupted& interrupted = {});
  // Captures the new output of a running attempt: see collect.h.
  Result<std::vector<CollectedOutput>> capture_so_far(const Assignment& assignment,
                                                      const io::AttemptDir& directory,
                                                      BlobSource& source, OutputSink& sink,
                                                      SoFarMemory& memory);
  // Captures the checkpoint of a running attempt: see collect.h.
  Result<CapturedCheckpoint> capture_checkpoint(const Assignment& assignment,
                                                const io::AttemptDir& directory, BlobSource& source,
                                                OutputSink& sink, CheckpointMemory& memory,
                                                bool insist);

 private:
  struct Impl;
  explicit Workspace(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::agent
