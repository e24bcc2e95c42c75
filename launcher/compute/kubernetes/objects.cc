#include "launcher/compute/kubernetes/objects.h"

#include <fmt/format.h>

#include "launcher/compute/kubernetes/manifest.h"
#include "launcher/compute/kubernetes/names.h"

namespace lockstep::compute::kubernetes {

Objects::Failures Objects::create(const std::string& step, const std::vector<std::string>& machines,
                                  std::vector<nlohmann::ordered_json> manifests) const {
  Failures failures;
  if (machines.empty()) return failures;
  const auto answer = kubectl_.try_to(step, {"create", "--validate=false", "-f", "-", "-o", "name"},
                                      list_of(std::move(manifests)), machines.size());
  if (answer && answer->exit_code == 0) return failures;
  for (const std::string& machine : machines) {
    if (!answer) {
      failures.emplace(machine, answer.error());
      continue;
    }
    // If one object cannot be made, kubectl continues with the others.
    const std::string name = pod_name(request_, machine);
    const bool is_made = answer->text.find("/" + name + "\n") != std::string::npos;
    const std::string about = lines_about(answer->errors, name);
    if (!is_made)
      failures.emplace(
          machine, kubectl_failure(step, about.empty() ? std::string_view(answer->errors) : about));
  }
  return failures;
}

Objects::Failures Objects::create_pods(const std::vector<std::string>& machines) const {
  std::vector<nlohmann::ordered_json> manifests;
  for (const std::string& machine : machines)
    manifests.push_back(pod_manifest(request_, settings_, machine));
  Failures failures = create("create", machines, std::move(manifests));
  for (auto& [machine, why] : failures)
    if (why.code == Failure::conflict)
      why.message = fmt::format(
          "a pod {} is there that is not ours; remove it, or use another "
          "namespace: {}",
          pod_name(request_, machine), why.message);
  return failures;
}

Objects::Failures Objects::put_tokens(const std::vector<compute::Machine>& machines,
                                      const Pods& pods) const {
  std::vector<std::string> names;
  std::vector<nlohmann::ordered_json> manifests;
  for (const compute::Machine& machine : machines) {
    names.push_back(machine.name);
    manifests.push_back(secret_manifest(request_, settings_, machine, pods.at(machine.name).uid));
  }
  return create("token", names, std::move(manifests));
}

Attempt<void> Objects::remove(const char* kind, const std::vector<std::string>& machines) const {
  if (machines.empty()) return {};
  std::vector<std::string> words{
      "delete", kind,  "--namespace=" + settings_.name_space, "--ignore-not-found", "--wait=false",
      "-o",     "name"};
  for (const std::string& machine : machines) words.push_back(pod_name(request_, machine));
  const auto done = kubectl_.run("remove", words, "", machines.size());
  if (!done) return tl::unexpected(done.error());
  return {};
}

Attempt<void> Objects::delete_pods(const std::vector<std::string>& machines) const {
  return remove("pods", machines);
}

Attempt<void> Objects::delete_tokens(const std::vector<std::string>& machines) const {
  return remove("secrets", machines);
}

Attempt<void> Objects::may_delete(const char* kind) const {
  const auto answer = kubectl_.try_to(
      "check", {"auth", "can-i", "delete", kind, "--namespace=" + settings_.name_space}, "", 1);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->text.starts_with("yes")) return {};
  return tl::unexpected(Failed{
      "check", Failure::no_permission,
      fmt::format(
          "the kubeconfig's account may not delete {} in namespace {}. It needs create, list "
          "and delete of pods, and create and delete of secrets there",
          kind, settings_.name_space)});
}

Attempt<void> Objects::rehearse() const {
  const auto dry = [&](const char* kind, const nlohmann::ordered_json& manifest) -> Attempt<void> {
    const std::string path = path_in(settings_, fmt::format("{}?dryRun=All", kind));
    const auto done = kubectl_.run("check", {"create", "--raw", path, "-f", "-"}, manifest.dump());
    if (!done) return tl::unexpected(done.error());
    return {};
  };
  const std::string machine = "check";
  if (auto good = dry("pods", pod_manifest(request_, settings_, machine)); !good) return good;
  if (auto good = dry("secrets", secret_manifest(request_, settings_, {machine, "none"}, ""));
      !good)
    return good;
  for (const char* kind : {"pods", "secrets"})
    if (auto good = may_delete(kind); !good) return good;
  return {};
}

}  // namespace lockstep::compute::kubernetes
