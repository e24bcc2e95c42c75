#pragma once
// Schedules the jobs of one pool of nodes, in the order of waiting_jobs.h. A job for which the pool
// has no suitable nodes at all is parked and blocks no other job. The first job that has to wait
// for busy nodes is the head: nodes are kept for it by a reservation (reservation.h), and jobs
// behind it start only if that does not delay it. A head whose nodes are open to other users
// (Reservation::is_open) stands aside: it delays only its own user's jobs, and the next job that
// has to wait becomes the head of all. A job whose user or project is at a quota waits apart and
// blocks no other job (quota_queue.h).
//
// All data of a lane can be rebuilt from State's queue. The cost of a pass depends on the jobs that
// it moves and on the number of different requests that wait, not on the number of jobs.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "launcher/core/placement/placement.h"
#include "launcher/core/queue/quota_queue.h"
#include "launcher/core/queue/reservation.h"
#include "launcher/core/queue/waiting_jobs.h"

namespace lockstep::launcher {

// The most requests that cannot start and that a pass tests behind the head, and the most nodes
// that it looks at for them.
inline constexpr int kMaxBackfillTests = 100;
inline constexpr std::size_t kMaxBackfillNodes = 50'000;
// The most heads that stand aside at once; the next one blocks all jobs behind it.
inline constexpr std::size_t kMostAside = 20;

class Lane {
 public:
  struct Moves {
    // Records the placement. The job then leaves the queue through remove().
    std::function<void(const Job&, Placed)> place;
    // Records that the job is the head. The job then moves through add().
    std::function<void(const Job&)> at_head;
    // The job's reason to wait has changed.
    std::function<void(const Job&)> waits;
  };
  struct Head {
    std::uint64_t order = 0;
    Priority priority = Priority::medium;
    std::string user;
    Why why;  // why it waits: too few nodes are free
    Reservation reservation;
    Instant since;  // the same as Job::head_since
    int tests = 0;  // tests of jobs behind it that could not start, and of nodes for them
    std::size_t nodes_tested = 0;
    bool is_spent() const {
      return tests >= kMaxBackfillTests || nodes_tested >= kMaxBackfillNodes;
    }
  };

  // Adds a job, also one whose priority or turn has changed.
  void add(const CoreConfig& config, const Job& job);
  void remove(const Job& job);
  void capacity_changed() { dirty_ = retest_ = true; }  // resources were freed or came back
  // The set of placeable jobs changed.
  void topology_changed() { dirty_ = retest_ = topology_dirty_ = true; }
  // Tells that the use of a quota fell, and not a node's.
  void use_fell() { dirty_ = dirty_ || !over_quota_.empty(); }
  void quota_changed() { dirty_ = retest_ = true; }
  bool dirty() const { return dirty_; }
  bool is_empty() const { return jobs_.empty() && over_quota_.empty(); }

  // Why a queued job waits.
  Why why(const State& state, const Job& job) const;
  // The job's record as a head; null: it is not one.
  const Head* head_of(const Job& job) const;
  // The head that the job waits behind; null: there is none, or the job is itself one.
  const Head* head_before(const Job& job) const;
  // The time at which time alone opens the kept nodes to other users, or closes them again.
  Instant next_change() const;
  bool is_parked(const Job& job) const { return parked_.count(shape_of(job)) != 0; }
  bool waits_in_vain(const Job& job) const;

  // Visits the jobs that wait for nodes, in the order of the queue, until `take` returns false.
  // Jobs that wait for a quota, a time or other jobs are left out.
  void visit(const State& state, const std::string& pool,
             const std::function<bool(const Job&)>& take) const;
  bool has(const Job& job) const { return jobs_.has(job.order); }
  bool holds_for_quota(const Job& job) const { return over_quota_.holds(job); }

 private:
  friend class Pass;
  friend void run_pass(Lane& lane, const Cluster& cluster, const Moves& moves);
  struct Parked {
    WaitingJobs::Orders orders;
    Why why;
    bool in_vain = false;
  };
  // The knowledge about a head before a pass.
  struct Known {
    Why why;
    bool waited_for_own = false;
  };
  bool may_change_head(const Job& job) const;
  bool is_closed(const std::string& user, const JobClass& kind) const;
  void forget_heads();
  void note_end_of_head(const Job& job);
  void unpark(const Cluster& cluster, const Moves& moves);
  void park(const State& state, const Shape& shape, const Impossible& why, const Moves& moves);

  WaitingJobs jobs_;
  std::map<Shape, Parked> parked_;
  WaitingJobs::Orders unsaid_;  // added to a parked shape; moves.waits() was not called yet
  QuotaQueue over_quota_;
  std::optional<Head> head_;              // the head of all jobs
  std::map<std::string, Head> aside_;     // by user; such a head delays only its user's other jobs
  std::map<std::uint64_t, Known> known_;  // by order: the heads that were forgotten since
  // By user: since when nodes were kept for the user's canceled heads. The user's next head
  // continues their turns, until a job of the user is placed.
  std::map<std::string, Instant> kept_since_;
  // Results since resources were freed. full_: the requests for which too few nodes are free, with
  // the reason. closed_: the classes that may not start before the head of all (""), or before
  // their user's head.
  std::map<Shape, Why> full_;
  std::set<std::pair<std::string, JobClass>> closed_;
  Instant now_;  // the time of the last pass
  bool dirty_ = false;
  bool retest_ = false;  // whether to forget full_ and closed_
  bool topology_dirty_ = false;
};

}  // namespace lockstep::launcher
