#pragma once
// Writes merged outputs from the blob store to remotes, on threads of its own.
//
//   <folder>/writing/<n>   a tree that is being written; emptied at the start
//
// All methods are for the event loop's thread.

#include <array>
#include <atomic>
#include <functional>
#include <string>

#include "common/io/event_loop.h"
#include "common/snapshot/blob_store.h"
#include "launcher/daemon/rclone.h"
#include "launcher/daemon/worker.h"

namespace lockstep::launcher {

class RemoteWriter {
 public:
  using Then = std::function<void(Status)>;
  RemoteWriter(io::EventLoop& loop, snapshot::BlobStore& blobs, std::string folder,
               Duration silence);
  ~RemoteWriter();  // ends what runs

  // Two writes to the same path are done one after the other, in the order of the calls.
  void write(const WriteOutput& what, const RemoteFiles& to, Then then);

  static constexpr std::size_t kAtOnce = 4;
  static constexpr std::size_t kMaxWrites = 1'000;  // that run or wait

 private:
  Status work(const WriteOutput& what, const RemoteFiles& to, int number);
  Status check_space(const Digest& tree) const;

  io::EventLoop& loop_;
  snapshot::BlobStore& blobs_;
  const std::string folder_;
  const Duration silence_;
  std::atomic<bool> stop_ = false;
  int last_number_ = 0;
  std::size_t waiting_ = 0;              // writes that run or wait
  std::array<Worker, kAtOnce> workers_;  // last member, so that it is destroyed first
};

}  // namespace lockstep::launcher
