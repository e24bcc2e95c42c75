#pragma once
// Schedules the jobs of one pool of nodes, in the order of waiting_jobs.h. A job for which the pool
// has no suitable nodes at all is parked and blocks no other job. The first job that has to wait
// for busy nodes is the head: nodes are kept for it by a reservation (reservation.h), and jobs
// behind it start only where that does not make it later. A head whose nodes are open to other
// users (Reservation::is_open) stands aside: it holds back its own user's jobs alone, and the next
// that has to wait is the head of all. A job whose user or project is at a quota waits apart and
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

// How many requests behind the head a pass looks at that cannot start, and at how many nodes it
// looks for them.
inline constexpr int kMaxBackfillTests = 100;
inline constexpr std::size_t kMaxBackfillNodes = 50'000;
// So many heads stand aside at once; the next one holds back all.
inline constexpr std::size_t kMostAside = 20;

class Lane {
 public:
  struct Moves {
    // Records the placement. The job then leaves the queue through remove().
    std::function<void(const Job&, Placed)> place;
    // Records that the job is the head. The job then moves through add().
    std::function<void(const Job&)> at_head;
    // The job's reason to wait changed.
    std::function<void(const Job&)> waits;
  };
  struct Head {
    std::uint64_t order = 0;
    Priority priority = Priority::medium;
    std::string user;
    Why why;  // too few nodes are free
    Reservation reservation;
    Instant since;  // as Job::head_since
    int tests = 0;  // of jobs behind it that could not start, and of nodes for them
    std::size_t nodes_tested = 0;
    bool is_spent() const {
      return tests >= kMaxBackfillTests || nodes_tested >= kMaxBackfillNodes;
    }
  };

  // Also for a job whose priority or turn changed.
  void add(const CoreConfig& config, const Job& job);
  void remove(const Job& job);
  void capacity_changed() { dirty_ = retest_ = true; }  // resources were freed or came back
  // The set of placeable jobs changed.
  void topology_changed() { dirty_ = retest_ = topology_dirty_ = true; }
  void use_fell() { dirty_ = dirty_ || !over_quota_.empty(); }  // of a quota, not of a node
  void quota_changed() { dirty_ = retest_ = true; }
  bool dirty() const { return dirty_; }
  bool is_empty() const { return jobs_.empty() && over_quota_.empty(); }

  // Why a queued job waits.
  Why why(const State& state, const Job& job) const;
  // The job as a head; null: it is none.
  const Head* head_of(const Job& job) const;
  // The head that the job waits behind; null: none, or it is one itself.
  const Head* head_before(const Job& job) const;
  // When what is kept is open to other users, or no longer, as time passes.
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
  // What was known of a head before a pass.
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
  WaitingJobs::Orders unsaid_;  // added to a parked shape; not said yet
  QuotaQueue over_quota_;
  std::optional<Head> head_;              // of all
  std::map<std::string, Head> aside_;     // by user, whose other jobs alone it holds back
  std::map<std::uint64_t, Known> known_;  // by order, the heads that were forgotten since
  // By user, since when nodes were kept for heads of theirs that were canceled: the next one goes
  // on with the turns of the last. Until one is placed.
  std::map<std::string, Instant> kept_since_;
  // What was found out since resources were freed: the requests for which too few nodes are free,
  // with the reason, and those that may not start before the head of all (""), or that of their
  // user.
  std::map<Shape, Why> full_;
  std::set<std::pair<std::string, JobClass>> closed_;
  Instant now_;  // of the last pass
  bool dirty_ = false;
  bool retest_ = false;  // forget what was found out
  bool topology_dirty_ = false;
};

}  // namespace lockstep::launcher
