#pragma once
// The source tree of an attempt on this node: fetches what the blob cache lacks, writes each tree
// out once per digest and user, and lays out the attempt's directories so that the runner can mount
// or use them. It owns <cache>/blobs and <cache>/trees. It mounts nothing itself: mounts belong to
// the runner.

#include <functional>
#include <memory>
#include <string>

#include "agent/workspace/cache_limit.h"
#include "agent/workspace/collect.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/domain/assignment.h"
#include "common/domain/workspace_plan.h"
#include "common/io/attempt_dir.h"
#include "common/io/transport.h"
#include "common/transfer/fetch_board.h"
#include "common/transfer/swarm.h"
#include "common/transfer/transfer.h"

namespace lockstep::agent {

// Where the blobs of a tree come from.
class BlobSource {
 public:
  virtual ~BlobSource() = default;
  // Fetches all that `cache` lacks below `root`. Called on the thread of stage(), also by several
  // at once.
  virtual Status fetch_tree(const Digest& root, snapshot::BlobStore& cache,
                            const transfer::OnProgress& progress) = 0;
  // These alone, which are `root` or below it.
  virtual Status fetch(const Digest& root, const std::vector<snapshot::BlobWanted>& wanted,
                       snapshot::BlobStore& cache, const transfer::OnProgress& progress) = 0;
  // Sends what the other side lacks of a tree.
  virtual Status push(const snapshot::Snapshot& tree, const transfer::OnProgress& progress) = 0;
};

// The launcher's bulk socket, dialled anew for each tree, and the peers that it names.
class LauncherBlobs final : public BlobSource, public OutputSink {
 public:
  // `transport` outlives this. `board`: what peers are told while a tree is fetched.
  LauncherBlobs(io::Transport& transport, std::string endpoint, PublicKey launcher_key,
                io::KeyPair keys, std::shared_ptr<transfer::FetchBoard> board);
  // Peers may fetch from this node, at this port. Before the first fetch.
  void serves_at(std::uint16_t port) { port_ = port; }
  Status fetch_tree(const Digest& root, snapshot::BlobStore& cache,
                    const transfer::OnProgress& progress) override;
  Status fetch(const Digest& root, const std::vector<snapshot::BlobWanted>& wanted,
               snapshot::BlobStore& cache, const transfer::OnProgress& progress) override;
  Status push(const snapshot::Snapshot& tree, const transfer::OnProgress& progress) override;
  // What is missing of these, from peers and `origin`: see transfer::fetch_files.
  Status fetch_files(const Digest& root, const Digest& lock, const std::set<Digest>& wanted,
                     snapshot::BlobStore& cache, transfer::Origin& origin,
                     const transfer::OnProgress& progress);

 private:
  io::Transport& transport_;
  const std::string endpoint_;
  const PublicKey launcher_key_;
  const io::KeyPair keys_;
  const std::shared_ptr<transfer::FetchBoard> board_;
  std::uint16_t port_ = 0;
};

struct WorkspaceConfig {
  std::string cache;         // made when it does not exist; on the file system of the attempts
  std::string workdir_mode;  // as Inventory says: overlay | overlay-userns | reflink | copy
  CacheLimit limit = {};
};

class Workspace {
 public:
  // conflict: another agent uses this cache.
  static Result<std::unique_ptr<Workspace>> open(const WorkspaceConfig& config);
  ~Workspace();

  using OnProgress = std::function<void(const std::string& text)>;
  // For worker threads; several may stage at once. Doing it again for an attempt whose runner has
  // not started is safe. A tree that is here already costs a few system calls.
  Result<WorkspacePlan> stage(const Assignment& assignment, const io::AttemptDir& directory,
                              BlobSource& source, const OnProgress& progress);
  // The cache, for peers to read.
  snapshot::BlobStore& blobs();
  // True once after something was added to the cache: then keep it small.
  bool cache_has_grown();
  // Removes what was not used for longest while the cache is larger than its limit. For worker
  // threads.
  Status keep_cache_small();
  // Collects its outputs once its runner is gone: see collect.h. For worker threads.
  Result<Collected> collect(const Assignment& assignment, const io::AttemptDir& directory,
                            BlobSource& source, OutputSink& sink, const OnProgress& progress);
  // ./logs of one that runs.
  Result<std::optional<CollectedOutput>> capture_folder(const Assignment& assignment,
                                                        const io::AttemptDir& directory,
                                                        BlobSource& source, OutputSink& sink,
                                                        OutputKind kind, Digest& seen);
  // The checkpoint of one that runs.
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
