#pragma once
// `create` of a target of pods: makes a pod for each machine that has none, and waits until their
// agents have joined, or the scheduler lets them wait.

#include <string>
#include <vector>

#include "launcher/compute/contract.h"
#include "launcher/compute/kubernetes/objects.h"

namespace lockstep::compute::kubernetes {

class Creation {
 public:
  Creation(const Request& request, const Objects& objects, Events& events)
      : request_(request), objects_(objects), events_(events) {}

  // The number of machines that failed. `pods`: those that are there.
  int run(const Pods& pods);

 private:
  struct Task {
    compute::Machine machine;
    bool is_new = false;     // this call made its pod
    bool is_failed = false;  // the pod ended before its agent joined
    bool is_done = false;
  };
  using Tasks = std::vector<Task*>;

  void make_all(const Tasks& tasks, Pods pods);
  bool clear_the_way(const Tasks& old);
  void make_pods(const Tasks& missing);
  void put_tokens(const Tasks& tasks);
  void wait_for(const Tasks& tasks);
  void look_at(Task& task, const Pod* pod, Duration waited);
  void settle();
  void fail(Task& task, Failed why);
  void fail_all(const Tasks& tasks, const Failed& why);

  const Request& request_;
  const Objects& objects_;
  Events& events_;
  // machines whose Secrets go, and machines whose pods go
  std::vector<std::string> joined_, useless_;
  int failures_ = 0;
};

// Waits until none of the machines has a pod. Returns timed_out with one that stays.
Attempt<void> wait_until_gone(const Objects& objects, const std::vector<std::string>& machines);

}  // namespace lockstep::compute::kubernetes
