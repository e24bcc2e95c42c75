#pragma once
// The pods of a target, as the API server describes them.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "launcher/compute/contract.h"
#include "launcher/compute/kubernetes/kubectl.h"

namespace lockstep::compute::kubernetes {

struct Pod {
  enum class State {
    waiting,   // no node has the pod
    starting,  // a node has it; its agent has not joined
    joined,
    ended,
    leaving,  // the pod is being deleted
  };
  std::string name, uid, node;
  State state = State::waiting;
  std::string reason;      // why it waits, ended or leaves, for people
  std::string last_words;  // the last output of its agent, if the agent ended
  int exit_code = 0;
  // Set for a pod that ends by itself: how long it lives, and when it began by the cluster's clock.
  std::optional<Duration> lifetime;
  std::optional<Instant> started;
  bool is_stuck =
      false;  // the pod cannot start until somebody changes something: `reason` says why
};

using Pods = std::map<std::string, Pod>;  // The pods by machine.

// Lists all pods of this target that we made, by their labels and their names.
Attempt<Pods> list_pods(const Kubectl& kubectl, const Request& request, const Settings& settings,
                        const std::string& step);
// Reads the API server's answer, a PodList. Returns failed if the text has another form.
Attempt<Pods> pods_from(const Request& request, const std::string& text, const std::string& step);

// `lifetime` and `left` of `about`, in whole seconds; empty: the pod does not end by itself, or has
// not begun.
About life_of(const Pod& pod, Instant now);

// Reports the state of a machine's pod; nullptr: the machine has no pod.
void tell(const std::string& machine, const Pod* pod, const Settings& settings, Events& events);

}  // namespace lockstep::compute::kubernetes
