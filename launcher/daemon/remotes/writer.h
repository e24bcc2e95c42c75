#pragma once
// Writes merged outputs from the blob store to remotes, on threads of its own, in turns of the
// users whose jobs they are from.
//
//   <folder>/writing/<n>   a tree that is being written; emptied at the start
//
// All methods are for the event loop's thread.

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "common/io/event_loop.h"
#include "common/snapshot/content/blob_store.h"
#include "launcher/daemon/remotes/rclone.h"
#include "launcher/daemon/work/fair_workers.h"

namespace lockstep::launcher {

class RemoteWriter {
 public:
  using Then = std::function<void(Status)>;
  RemoteWriter(io::EventLoop& loop, snapshot::BlobStore& blobs, std::string folder,
               Duration silence);
  ~RemoteWriter();  // ends the running writes

  // Writes an output. Two writes to the same path are done one after the other, in the order of the
  // calls.
  void write(const WriteOutput& what, const RemoteFiles& to, Then then);

  static constexpr std::size_t kAtOnce = 8, kAtOnceOfUser = 2;
  // Writes that run or wait.
  static constexpr std::size_t kMaxWrites = 2'000, kMaxWritesOfUser = 500;

 private:
  struct Write {
    WriteOutput what;
    RemoteFiles to;
    Then then;
    int number = 0;
  };
  using Place = std::array<std::string, 3>;
  static Place place_of(const RemoteFiles& to) { return {to.config, to.remote, to.path}; }
  void begin(const std::shared_ptr<Write>& write);
  void done(const Write& write, const Status& written);
  Status work(const WriteOutput& what, const RemoteFiles& to, int number);
  Status check_space(const Digest& tree) const;

  io::EventLoop& loop_;
  snapshot::BlobStore& blobs_;
  const std::string folder_;
  const Duration silence_;
  std::atomic<bool> stop_ = false;
  int last_number_ = 0;
  Shares writes_;                                               // the writes that run or wait
  std::map<Place, std::deque<std::shared_ptr<Write>>> places_;  // the first of each was begun
  FairWorkers workers_;  // last member, so that it is destroyed first
};

}  // namespace lockstep::launcher
