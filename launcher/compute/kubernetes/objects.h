#pragma once
// Makes and deletes the pods and Secrets of machines, many with one call of kubectl.

#include <map>
#include <string>
#include <vector>

#include "launcher/compute/contract.h"
#include "launcher/compute/kubernetes/kubectl.h"
#include "launcher/compute/kubernetes/pods.h"

namespace lockstep::compute::kubernetes {

class Objects {
 public:
  Objects(const Kubectl& kubectl, const Request& request, const Settings& settings)
      : kubectl_(kubectl), request_(request), settings_(settings) {}

  const Settings& settings() const { return settings_; }
  Attempt<Pods> list(const std::string& step) const {
    return list_pods(kubectl_, request_, settings_, step);
  }
  using Failures = std::map<std::string, Failed>;  // The failures by machine.
  Failures create_pods(const std::vector<std::string>& machines) const;
  // Makes the tokens' Secrets. `pods` has a pod of each machine, and none of them has a Secret.
  Failures put_tokens(const std::vector<compute::Machine>& machines, const Pods& pods) const;
  // Deletes pods; may be repeated. A pod has its grace time, so it is there for a while after that.
  Attempt<void> delete_pods(const std::vector<std::string>& machines) const;
  Attempt<void> delete_tokens(const std::vector<std::string>& machines) const;
  // Asks the API server for all that is needed, and changes nothing.
  Attempt<void> rehearse() const;

 private:
  Failures create(const std::string& step, const std::vector<std::string>& machines,
                  std::vector<nlohmann::ordered_json> manifests) const;
  Attempt<void> remove(const char* kind, const std::vector<std::string>& machines) const;
  Attempt<void> may_delete(const char* kind) const;

  const Kubectl& kubectl_;
  const Request& request_;
  const Settings& settings_;
};

}  // namespace lockstep::compute::kubernetes
