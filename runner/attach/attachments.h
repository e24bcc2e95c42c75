#pragma once
// The attachments to the ranks of this part (docs/decisions/078-attach.md): it takes the frames of
// clients and sends its own, starts programs and tools beside ranks, and ends what clients leave.
// An id starts one thing, once, however often it is opened. It decides nothing about ranks, and no
// part waits for it.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "runner/attach/attached_program.h"
#include "runner/attach/conversation.h"
#include "runner/attach/main_streams.h"
#include "runner/attach/place.h"
#include "runner/attach/stack_run.h"

namespace lockstep::runner {

class Attachments {
 public:
  Attachments(io::EventLoop& loop, io::Clock& clock, AttachPlace& place, AttachFacts facts);
  ~Attachments();
  Attachments(const Attachments&) = delete;
  Attachments& operator=(const Attachments&) = delete;

  void take(const AttachFrame& frame);
  // Sets rank 0's streams, if the job has some, before any frame comes.
  void set_main(MainStreams* main) { main_ = main; }

  // Called for ids from kFirstAttachedId on.
  void started(int id, int pid);
  void failed(int id, int error, spawn::SpawnStage stage);
  void exited(int id, int wait_status);
  void rank_exited(int rank, int wait_status);
  void spawn_lost();
  // Kills all that runs, and opens nothing any more: the part ends.
  void end_all(const std::string& why);
  bool any() const { return !ones_.empty(); }  // attachments that no client has closed
  // True if a client's SIGKILL ended the rank.
  bool has_killed(int rank) const { return killed_.count(rank) != 0; }
  // Sends the last frames when rank 0's streams are closed.
  void main_drained();

  Instant next_deadline() const;
  void expire(Instant now);

 private:
  struct Program {
    int rank = 0;
    int id = 0;
    std::unique_ptr<AttachedProgram> streams;
    std::string name;
    bool is_left = false;  // true: nothing of the program is left
    Instant close_at = Instant::never();
  };
  struct Main {};
  struct Done {};  // the program only answers
  struct One {
    One(AttachOpened about, Conversation::Streams streams) : talk(std::move(about), streams) {}
    Conversation talk;
    std::variant<Done, Program, Main, std::unique_ptr<StackRun>> what;
    Instant heard;
  };

  // attachments_open.cc
  void open(const AttachId& id, const AttachOpen& open);
  std::string why_not(const AttachId& id, const AttachOpen& open) const;
  Result<int> rank_of(const AttachOpen& open) const;
  std::vector<int> live_ranks(const AttachOpen& open, int rank) const;
  Conversation::Streams streams_of(const AttachOrder& order) const;
  Status begin(const AttachId& id, One& one, const AttachOpen& open, int rank);
  Status begin_program(const AttachId& id, One& one, const AttachProgram& order, int rank);
  Status begin_main(const AttachId& id, One& one, const AttachMain& order);
  void begin_stacks(const AttachId& id, One& one, const AttachOpen& open, int rank);
  Result<int> start(const AttachId& owner, const spawn::RankProcess& process, Stdio& stdio,
                    int flags);

  // attachments.cc
  void take(One& one, const AttachBody& body);
  void resize(One& one, TerminalSize size);
  void notify(One& one, int number);
  void close(const AttachId& id);
  void leave(One& one);
  void hear(One& one);
  void refuse(const AttachId& id, std::string message, bool for_now);
  void go_on(const AttachId& id);
  void go_on_stacks(One& one, StackRun& run);
  void order(const std::function<void(spawn::Client&)>& what);
  void kill(int id);
  void signal(int id, int number);
  One* find(const AttachId& id);
  One* owner(int spawned, AttachId* id);

  io::EventLoop& loop_;
  io::Clock& clock_;
  AttachPlace& place_;
  const AttachFacts facts_;
  MainStreams* main_ = nullptr;
  std::map<AttachId, std::unique_ptr<One>> ones_;
  std::map<int, AttachId> by_spawned_;  // programs that run below a keeper
  std::map<int, Instant> dying_;        // programs left by their clients, and when to kill them
  std::set<int> killed_;                // ranks
  std::set<AttachId> gone_;             // an opening of these starts nothing
  std::deque<AttachId> gone_order_;
  int next_id_ = kFirstAttachedId;
  std::optional<int> main_code_;                // the exit code of rank 0, once it has ended
  std::string over_;                            // "": it takes openings
  bool is_ordering_ = false, is_lost_ = false;  // lockstep-spawn is gone; see order()
};

}  // namespace lockstep::runner
