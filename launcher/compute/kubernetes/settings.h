#pragma once
// The settings of a target whose machines are pods. Every value that becomes an argument of
// kubectl, a part of a path of the API, or a field of a manifest is checked here.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"

namespace lockstep::compute::kubernetes {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// A toleration. An empty value or effect matches any; so does an absent key.
struct Toleration {
  std::string key, value, effect;
};

struct Settings {
  std::string kubeconfig, context;  // "": what kubectl takes by itself
  std::string name_space = "default";
  std::string image;
  std::string bundle_image;  // "": `image` has an agent
  std::string image_pull_policy;
  std::vector<std::string> image_pull_secrets;

  std::optional<double> cpus;
  std::optional<std::uint64_t> memory, shm_size;  // bytes
  int gpus = 0;
  std::string gpu_resource = "nvidia.com/gpu";
  Pairs resources;  // further ones, of each pod

  // The time after its start on a node at which the pod ends; absent: it does not end by itself.
  std::optional<std::int64_t> active_deadline_seconds;
  bool host_network = false;
  std::vector<std::string> capabilities;
  std::string service_account, priority_class, scheduler, runtime_class;
  std::string queue;  // the queue of Kueue
  Pairs node_selector, labels, annotations;
  std::vector<Toleration> tolerations;
};

// Reads {"image": "debian:12", "bundle_image": …, "cpus": 4, …}. Returns invalid_argument with the
// key.
Result<Settings> settings_from(const std::string& settings_json);

}  // namespace lockstep::compute::kubernetes
