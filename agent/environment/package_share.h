#pragma once
// Fetches the package files that a build needs from other nodes, and this node's share of the rest
// from the packages' channel, so that all nodes together download each file about once. The build
// itself fetches the files that are still missing.

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "common/base/result.h"
#include "common/transfer/swarm.h"

namespace lockstep::agent {

using PackageFile = snapshot::BlobWanted;

// Functions that move package files between the node's blob cache, other nodes and folders.
struct ShareFunctions {
  // Fetches into the cache the files of `wanted` that it does not have. `files`: every file that
  // the lock (stored as the tree `lock`) names; `wanted` is a subset of it.
  std::function<Status(const Digest& lock, const std::vector<PackageFile>& files,
                       const std::set<Digest>& wanted, transfer::Origin& origin,
                       const transfer::OnProgress& progress)>
      fetch;
  // Stores in the cache a file that a user wrote. corrupt: its size or digest is not `file`'s.
  std::function<Status(const std::string& path, const PackageFile& file)> take;
  // Copies a file out of the cache, atomically and readable by everybody. not_found: not cached.
  std::function<Status(const Digest& file, const std::string& path)> write;
};

// A channel, from which a tool downloads files while the fetch from other nodes runs.
class ChannelOrigin final : public transfer::Origin {
 public:
  struct Site {
    std::string wanted;   // the agent's folder: an empty file for each file to download
    std::string fetched;  // the user's folder, where the tool puts the downloads
    // Runs the tool until it fails or `go_on` returns false. Called on a separate thread.
    std::function<Status(const std::function<bool()>& go_on)> run_tool;
    std::function<Status()> go_on;  // called often on the fetch's thread; an error ends the fetch
  };
  ChannelOrigin(Site site, const ShareFunctions& share) : site_(std::move(site)), share_(share) {}
  ~ChannelOrigin() override;
  ChannelOrigin(const ChannelOrigin&) = delete;
  ChannelOrigin& operator=(const ChannelOrigin&) = delete;

  void ask(const PackageFile& file) override;
  Result<News> poll() override;

  std::size_t files() const { return files_; }  // the number that came from the channel
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Asked {
    PackageFile file;
    std::uint64_t seen = 0;  // bytes
  };
  // Moves the file into the cache if its download is complete; false: it is not complete yet.
  bool look(Asked& asked, News& news);

  const Site site_;
  const ShareFunctions& share_;
  std::map<Digest, Asked> asked_;
  std::size_t files_ = 0;
  std::uint64_t bytes_ = 0;
  bool is_gone_ = false;
  std::atomic<bool> stops_ = false, has_ended_ = false;
  std::thread tool_;
};

}  // namespace lockstep::agent
