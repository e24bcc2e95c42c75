#pragma once
// The users of the simulation. They create a token, join the nodes, submit and cancel jobs, drain
// and resume nodes. The network loses requests and replies, so they repeat each request until it is
// answered.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "launcher/core/base/input.h"
#include "tests/sim/plan.h"

namespace lockstep::sim {

class Cluster;
class Node;

class Workload {
 public:
  explicit Workload(Cluster& cluster) : cluster_(cluster) {}

  void begin();  // token, joins, and submissions over time
  void ask(launcher::Input input, std::string what);
  // A request signed by the intruder, which must never be granted.
  void ask_forbidden(launcher::Input input, std::string what);
  void cancel(const JobId& job);
  void join(const Node& node);
  // True if the launcher's provider makes the node.
  bool is_machine(const Node& node) const;
  void join_machine(const Node& node, const Digest& secret);
  void attach(const Node& node);
  void detach(const Node& node, bool force);
  void drain(const std::string& node, bool drain);
  void wind_down();  // resume all nodes, cancel what would never end
  void shut_down();
  bool settled() const { return waiting_.empty() && !submitting_; }
  std::string waits_for() const;

  void replied(const launcher::ReplyTo& to, const JobId& job);
  void joined(const launcher::ReplyTo& to, NodeId node);
  void done(const launcher::ReplyTo& to);
  void deleted(const launcher::ReplyTo& to, const JobsDeleted& result);
  void job_finished(const JobId& job);  // somebody may delete it, and use its name again
  void job_starts(const JobId& job);    // somebody may cancel it just then
  void refused(const launcher::ReplyTo& to, ErrorCode code, const std::string& message);

  const JobPlan& plan_of(const JobId& job) const { return plans_.at(job); }
  const std::map<JobId, JobPlan>& plans() const { return plans_; }

 private:
  struct Request {
    launcher::Input input;
    std::string what;
    int sent = 0;
    bool is_forbidden = false;
  };
  void begin_asking(launcher::Input input, std::string what, bool is_forbidden);
  void send(std::uint64_t id);
  void create_targets();
  void begin_when_targets_are_there();
  void forget_hosts_requests(const Node& node);
  void scale_lab(ComputeSpec& lab);
  void make_tokens();
  void submit(const JobPlan& plan);
  void submit_next();
  void submit_pipeline(JobPlan whole, int nodes);
  void submit_child(const JobId& parent);
  bool is_of_step(const JobId& job) const { return plans_.at(job).spec.name.empty(); }
  std::vector<JobId> steps_of(const JobId& job) const;  // jobs that a pipeline's steps become
  void draw_after(JobPlan& plan);
  void update(const JobId& job);  // its priority
  void annotate(const JobId& job);
  // Takes the next step of a user with few rights who tries forbidden requests.
  void meddle();
  void limit_somebody();
  void approve(NodeId node);
  // Runs `answer` on the request when the reply has arrived, if the request still waits then.
  void on_reply(const launcher::ReplyTo& to, std::function<void(const Request&)> answer);

  Cluster& cluster_;
  std::map<std::uint64_t, Request> waiting_;
  std::map<JobId, JobPlan> plans_;
  std::map<std::string, JobId> submissions_;  // answered submissions
  std::set<std::string> drained_;
  std::uint64_t next_ = 1;
  int jobs_left_ = 0;
  int submitted_ = 0;
  bool submitting_ = true;
  int meddled_ = 0;  // steps of meddle()
  bool approves_nodes_ = false;
  bool attaches_ = false;  // the lab's nodes are hosts that a provider attaches
  bool has_pipelines_ = false;
  bool has_children_ = false;  // running jobs submit some
  int kids_ = 0;
  std::set<JobId> unborn_;          // children whose parent had ended before they were submitted
  bool has_lab_ = false;            // there is a target with nodes of its own
  bool targets_are_there_ = false;  // all requested targets exist
  bool limits_nodes_ = false;       // a job that needs more nodes than there are would be refused
};

}  // namespace lockstep::sim
