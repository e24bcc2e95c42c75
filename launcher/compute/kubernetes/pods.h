#pragma once
// The pods of a target, as the API server describes them.

#include <map>
#include <string>
#include <string_view>

#include "launcher/compute/contract.h"
#include "launcher/compute/kubernetes/kubectl.h"

namespace lockstep::compute::kubernetes {

struct Pod {
  enum class State {
    waiting,   // no node has it
    starting,  // a node has it; its agent has not joined
    joined,
    ended,
    leaving,  // it is being deleted
  };
  std::string name, uid, node;
  State state = State::waiting;
  std::string reason;      // why it waits, ended or leaves, for people
  std::string last_words;  // of its agent, if that ended
  int exit_code = 0;
  bool is_stuck =
      false;  // it cannot start: `reason` says why, and somebody has to change something
};

using Pods = std::map<std::string, Pod>;  // by machine

// All of this target that are ours: by their labels and their names.
Attempt<Pods> list_pods(const Kubectl& kubectl, const Request& request, const Settings& settings,
                        const std::string& step);
// The answer of the API server: a PodList. failed: it is none.
Attempt<Pods> pods_from(const Request& request, const std::string& text, const std::string& step);

// Says what a machine's pod is; nullptr: it has none.
void tell(const std::string& machine, const Pod* pod, const Settings& settings, Events& events);

}  // namespace lockstep::compute::kubernetes
