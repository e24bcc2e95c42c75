#pragma once
// Fetches package files for a build from other nodes, and this node's share of the rest from the
// channel, so that all nodes together download each file about once. Files that this does not bring
// are fetched by the build itself.

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

// How such files come and go: the node's blob cache, and the nodes that it knows.
struct ShareFunctions {
  // Fetches into the cache the files of `wanted` that it does not have. `files`: every file that
  // the lock (stored as the tree `lock`) names; `wanted` is a subset of it.
  std::function<Status(const Digest& lock, const std::vector<PackageFile>& files,
                       const std::set<Digest>& wanted, transfer::Origin& origin,
                       const transfer::OnProgress& progress)>
      fetch;
  // Stores in the cache a file that a user wrote. corrupt: its digest is another one.
  std::function<Status(const std::string& path, const PackageFile& file)> take;
  // Copies a file out of the cache, readable by everybody; whole, or not at all. not_found.
  std::function<Status(const Digest& file, const std::string& path)> write;
};

// A channel, read by a tool that works beside the fetch.
class ChannelOrigin final : public transfer::Origin {
 public:
  struct Site {
    std::string wanted;   // a folder of ours: a file for each that the tool shall fetch
    std::string fetched;  // and the user's, where they go
    // Runs the tool until it fails, or `go_on` says no. On a thread of its own.
    std::function<Status(const std::function<bool()>& go_on)> run_tool;
    std::function<Status()> go_on;  // often, on the fetch's thread; an error ends the fetch
  };
  ChannelOrigin(Site site, const ShareFunctions& share) : site_(std::move(site)), share_(share) {}
  ~ChannelOrigin() override;
  ChannelOrigin(const ChannelOrigin&) = delete;
  ChannelOrigin& operator=(const ChannelOrigin&) = delete;

  void ask(const PackageFile& file) override;
  Result<News> poll() override;

  std::size_t files() const { return files_; }  // that it brought
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Asked {
    PackageFile file;
    std::uint64_t seen = 0;  // bytes
  };
  // Whether it came whole, and into the cache.
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
