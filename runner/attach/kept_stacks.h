#pragma once
// The stacks of all ranks of this node, taken once with the tools of `job stacks`
// (runner/attach/stack_run.h) and kept with the job: lines of JSON in its folder logs/. The file is
// written by a program of a rank, in the rank's place and with its rights, so that no path of the
// user's is followed by ours.

#include <functional>
#include <memory>
#include <string>

#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "runner/attach/place.h"
#include "runner/attach/stack_run.h"

namespace lockstep::runner {

inline constexpr std::size_t kMaxKeptStacks = 64u << 20;  // bytes

class KeptStacks {
 public:
  KeptStacks(io::EventLoop& loop, io::Clock& clock, AttachPlace& place, AttachFacts facts);
  ~KeptStacks();
  KeptStacks(const KeptStacks&) = delete;
  KeptStacks& operator=(const KeptStacks&) = delete;

  void begin();  // begins, on the first call only
  void end();    // kills the tools: the part ends

  // Called by lockstep-spawn for ids from kFirstKeptId on.
  void failed(int id, int error, spawn::SpawnStage stage);
  void exited(int id, int wait_status);

  Instant next_deadline() const;
  void expire(Instant now);

 private:
  Status open_file(const spawn::RankProcess& rank);
  std::vector<TracedProcess> processes_here() const;
  Result<int> start(const spawn::RankProcess& process, Stdio& stdio);
  void go_on();
  void write();
  void close_file();

  io::EventLoop& loop_;
  io::Clock& clock_;
  AttachPlace& place_;
  const AttachFacts facts_;
  bool is_begun_ = false;
  std::unique_ptr<StackRun> run_;
  std::string unwritten_;
  std::size_t written_ = 0;  // the bytes of these that are written
  int writer_ = -1;          // the id of the process that writes
  Stdio stdio_;              // the pipes of the process that writes
  int next_id_ = kFirstKeptId;
};

}  // namespace lockstep::runner
