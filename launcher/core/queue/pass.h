#pragma once
// A pass over the waiting jobs of a lane: each job in its turn is placed, parked, held back for a
// quota, made the head, or found unable to start before the head.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "launcher/core/queue/lane.h"

namespace lockstep::launcher {

class Pass {
 public:
  Pass(Lane& lane, const Cluster& cluster, const Lane::Moves& moves)
      : lane_(lane), cluster_(cluster), moves_(moves) {}

  // Runs the pass. `before`: the former heads that have to be looked at again.
  void run(std::map<std::uint64_t, Lane::Known> before);

 private:
  // A user's next job. Shares decide whose job is next: a user's share grows when a job of theirs
  // is placed. Behind the head, users take turns.
  struct Turn {
    int rounds = 0;
    double share = 0;
    std::uint64_t order = 0;
    std::string user;
    friend bool operator<(const Turn& a, const Turn& b) {
      return std::tie(a.rounds, a.share, a.order) < std::tie(b.rounds, b.share, b.order);
    }
  };

  void run_level(Priority priority);
  const WaitingJobs::Level* level(Priority priority) const;
  // The first of the jobs at the head, and of the older jobs of their users, that is not closed.
  std::optional<std::uint64_t> next_at_head(const WaitingJobs::Level& level) const;
  void load(const WaitingJobs::Level& level);
  void line_up(const WaitingJobs::Level& level, const std::string& user, int rounds);
  bool is_open(const std::string& user, const JobClass& kind) const;
  bool is_spent() const;

  void take_turn(std::uint64_t order);
  bool is_over_quota(const Job& job);
  void hold(const Job& job, std::optional<Demand> measured);
  void make_head(const Job& job, const Why& why);
  void try_to_place(const Job& job, const JobClass& kind);
  // The heads that the job may not delay: the head of all, and its own user's head.
  std::vector<Lane::Head*> heads_before(const Job& job);
  void place_behind(const std::vector<Lane::Head*>& heads, const Job& job, const JobClass& kind,
                    Placed placed);
  std::optional<Placed> place_beside(const std::vector<Lane::Head*>& heads, const Job& job,
                                     const JobClass& kind);
  void close(Lane::Head& head, const Job& job, const JobClass& kind);
  void record_passed(const Job& job, const JobClass& kind, Placed& placed);
  void place_now(const Job& job, Placed placed);
  void count_test(Lane::Head& head, const Job& job);
  Reservation& fresh(Lane::Head& head);

  Lane& lane_;
  const Cluster& cluster_;
  const Lane::Moves& moves_;
  std::set<Turn> turns_;
  std::map<std::uint64_t, Lane::Known> before_;  // by order: the former heads
  std::set<std::uint64_t> fresh_;                // heads whose reservation was made in this pass
};

// Applies the changes of the lane, and then makes a pass if there were any.
void run_pass(Lane& lane, const Cluster& cluster, const Lane::Moves& moves);

}  // namespace lockstep::launcher
