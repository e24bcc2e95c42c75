#pragma once
// The manifests that kubectl gets: a machine's pod, and the Secret with its token. They are valid
// for Kubernetes 1.20 and later.

#include <nlohmann/json.hpp>
#include <string>

#include "launcher/compute/contract.h"
#include "launcher/compute/kubernetes/settings.h"

namespace lockstep::compute::kubernetes {

// The agent gives up after 30 s; the kubelet ends a pod that has not joined after this time.
inline constexpr int kJoinSeconds = 90;
inline constexpr int kGraceSeconds = 10;

// The pod of a machine, without a secret: many may read pods.
nlohmann::ordered_json pod_manifest(const Request& request, const Settings& settings,
                                    const std::string& machine);
// The Secret of a pod, which owns it, so that it goes when the pod goes. It has one key, "token".
nlohmann::ordered_json secret_manifest(const Request& request, const Settings& settings,
                                       const compute::Machine& machine, const std::string& pod_uid);
// One object that contains all the given objects, for one call of kubectl.
std::string list_of(std::vector<nlohmann::ordered_json> items);

}  // namespace lockstep::compute::kubernetes
