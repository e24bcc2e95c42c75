#include "launcher/compute/kubernetes/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "common/grammar/image_name.h"
#include "launcher/compute/kubernetes/names.h"
#include "launcher/compute/settings_object.h"

namespace lockstep::compute::kubernetes {
namespace {

using nlohmann::json;
using IsGood = bool (*)(std::string_view);

constexpr double kLeastCpus = 0.01;
constexpr double kMostCpus = 16'384;
constexpr std::int64_t kLeastMemory = 64 << 20;  // the agent alone needs a part of it
constexpr std::int64_t kLeastShm = 64 << 10;
constexpr std::int64_t kMostBytes = std::numeric_limits<std::int64_t>::max();
constexpr double kMostGpus = 1'024;
// The least deadline in seconds; the agent must join, and get notice before the end.
constexpr double kLeastDeadline = 60;
constexpr double kMostDeadline = 10.0 * 366 * 86'400;
constexpr std::size_t kMaxEntries = 64;  // the most entries of a list
constexpr std::size_t kMaxText = 1'024;

bool is_plain_text(std::string_view text) {
  return text.size() <= kMaxText && std::none_of(text.begin(), text.end(), [](unsigned char c) {
           return c < 0x20 || c == 0x7f;
         });
}

class Reader {
 public:
  explicit Reader(const SettingsObject& object) : object_(object) {}

  // Reads an optional text.
  Status text(const char* key, IsGood is_good, const char* what, std::string& into) const {
    TRY_ASSIGN(std::string value, object_.text(key));
    if (value.empty()) return {};
    if (!is_good(value)) return refuse(key, value, what);
    into = std::move(value);
    return {};
  }

  Status one_of(const char* key, std::initializer_list<std::string_view> words,
                std::string& into) const {
    TRY_ASSIGN(into, object_.text(key));
    if (into.empty() || std::find(words.begin(), words.end(), into) != words.end()) return {};
    return refuse(key, into, fmt::format("one of {}", fmt::join(words, ", ")));
  }

  Status image(const char* key, std::string& into) const {
    TRY_ASSIGN(into, object_.text(key));
    if (into.empty()) return {};
    if (const auto good = check_image_name(into); !good)
      return object_.bad(key, "is wrong: " + good.error().message);
    into = tagged_image_name(into);
    return {};
  }

  Status texts(const char* key, IsGood is_good, const char* what,
               std::vector<std::string>& into) const {
    TRY_ASSIGN(into, list(key));
    for (const std::string& value : into)
      if (!is_good(value)) return refuse(key, value, what);
    return {};
  }

  Status pairs(const char* key, IsGood is_value, const char* what, Pairs& into) const {
    TRY_ASSIGN(const std::vector<std::string> words, list(key));
    for (const std::string& word : words) {
      const auto equals = word.find('=');
      if (equals == std::string::npos || !is_qualified_name(word.substr(0, equals)) ||
          !is_value(std::string_view(word).substr(equals + 1)))
        return refuse(key, word, what);
      into.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
    return {};
  }

  Status tolerations(std::vector<Toleration>& into) const {
    TRY_ASSIGN(const std::vector<std::string> words, list("tolerations"));
    for (const std::string& word : words) {
      TRY_ASSIGN(Toleration one, toleration(word));
      into.push_back(std::move(one));
    }
    return {};
  }

  // Refuses keys by which a person could make our pods look like someone else's.
  Status refuse_ours(const char* key, const Pairs& pairs) const {
    for (const auto& [name, value] : pairs)
      if (name.starts_with("lockstep."))
        return object_.bad(key, fmt::format("has '{}', which Lockstep sets itself", name));
    return {};
  }

 private:
  Error refuse(const char* key, std::string_view value, std::string_view what) const {
    return object_.bad(key, fmt::format("has '{}', which is not {}", value.substr(0, 128), what));
  }

  Result<std::vector<std::string>> list(const char* key) const {
    TRY_ASSIGN(std::vector<std::string> words, object_.texts(key));
    if (words.size() > kMaxEntries)
      return object_.bad(key, fmt::format("has more than {} entries", kMaxEntries));
    return words;
  }

  // Reads a toleration in the form of `kubectl taint`: KEY[=VALUE][:EFFECT], or * for all taints.
  Result<Toleration> toleration(const std::string& word) const {
    if (word == "*") return Toleration{};
    const auto colon = word.find(':');
    const std::string front = word.substr(0, colon);
    const auto equals = front.find('=');
    Toleration one{front.substr(0, equals), "", ""};
    if (equals != std::string::npos) one.value = front.substr(equals + 1);
    if (colon != std::string::npos) one.effect = word.substr(colon + 1);
    const bool is_effect = one.effect == "NoSchedule" || one.effect == "PreferNoSchedule" ||
                           one.effect == "NoExecute" || colon == std::string::npos;
    const bool is_value = equals == std::string::npos || !one.value.empty();
    if (is_effect && is_value && is_qualified_name(one.key) && is_label_value(one.value))
      return one;
    return refuse("tolerations", word,
                  "KEY[=VALUE][:NoSchedule|PreferNoSchedule|NoExecute], or * for all taints");
  }

  const SettingsObject& object_;
};

Status read_amounts(const SettingsObject& object, const Reader& reader, Settings& settings) {
  TRY_ASSIGN(settings.cpus, object.number("cpus"));
  if (settings.cpus && !(*settings.cpus >= kLeastCpus && *settings.cpus <= kMostCpus))
    return object.bad("cpus", fmt::format("is not a number from {} to {}", kLeastCpus, kMostCpus));
  TRY_ASSIGN(const auto memory, object.integer("memory", kLeastMemory, kMostBytes));
  if (memory) settings.memory = static_cast<std::uint64_t>(*memory);
  TRY_ASSIGN(const auto shm, object.integer("shm_size", kLeastShm, kMostBytes));
  if (shm) settings.shm_size = static_cast<std::uint64_t>(*shm);
  TRY_ASSIGN(const auto gpus, object.number("gpus"));
  if (gpus && !(*gpus >= 0 && *gpus <= kMostGpus && *gpus == std::floor(*gpus)))
    return object.bad("gpus", fmt::format("is not a whole number up to {}", kMostGpus));
  settings.gpus = static_cast<int>(gpus.value_or(0));
  TRY(reader.text("gpu_resource", is_qualified_name, "the name of a resource",
                  settings.gpu_resource));
  TRY(reader.pairs("resources", is_quantity, "RESOURCE=AMOUNT, as rdma/hca=1", settings.resources));
  for (const auto& [name, amount] : settings.resources)
    if (name == "cpu" || name == "memory" || name == settings.gpu_resource)
      return object.bad("resources", fmt::format("has {}; cpus, memory and gpus are settings of "
                                                 "their own",
                                                 name));
  return {};
}

Status read_deadline(const SettingsObject& object, Settings& settings) {
  constexpr const char* kKey = "active_deadline_seconds";
  TRY_ASSIGN(const auto deadline, object.number(kKey));
  if (!deadline) return {};
  if (!(*deadline >= kLeastDeadline && *deadline <= kMostDeadline &&
        *deadline == std::floor(*deadline)))
    return object.bad(kKey, fmt::format("is not a whole number of seconds from {} to {}",
                                        kLeastDeadline, kMostDeadline));
  settings.active_deadline_seconds = static_cast<std::int64_t>(*deadline);
  return {};
}

Status read_rights(const Reader& reader, Settings& settings) {
  constexpr const char* kName = "a name of a-z, 0-9, '-' and '.'";
  TRY(reader.texts(
      "capabilities",
      [](std::string_view word) { return word == "SYS_PTRACE" || word == "IPC_LOCK"; },
      "SYS_PTRACE or IPC_LOCK", settings.capabilities));
  TRY(reader.text("service_account", is_dns_subdomain, kName, settings.service_account));
  TRY(reader.text("priority_class", is_dns_subdomain, kName, settings.priority_class));
  TRY(reader.text("scheduler", is_dns_subdomain, kName, settings.scheduler));
  TRY(reader.text("runtime_class", is_dns_subdomain, kName, settings.runtime_class));
  TRY(reader.texts("image_pull_secrets", is_dns_subdomain, kName, settings.image_pull_secrets));
  return reader.text("queue", is_dns_label, "a name of a-z, 0-9 and '-'", settings.queue);
}

Status read_place(const Reader& reader, Settings& settings) {
  TRY(reader.text(
      "kubeconfig", [](std::string_view path) { return path[0] == '/' && is_plain_text(path); },
      "an absolute path", settings.kubeconfig));
  TRY(reader.text("context", is_plain_text, "one line of text", settings.context));
  TRY(reader.text("namespace", is_dns_label, "a name of a-z, 0-9 and '-'", settings.name_space));
  constexpr const char* kLabel = "KEY=VALUE as of a label";
  TRY(reader.pairs("node_selector", is_label_value, kLabel, settings.node_selector));
  TRY(reader.pairs("labels", is_label_value, kLabel, settings.labels));
  TRY(reader.refuse_ours("labels", settings.labels));
  TRY(reader.pairs("annotations", is_plain_text, "KEY=VALUE as of an annotation",
                   settings.annotations));
  return reader.tolerations(settings.tolerations);
}

const std::initializer_list<std::string_view> kKeys = {"image",
                                                       "bundle_image",
                                                       "kubeconfig",
                                                       "context",
                                                       "namespace",
                                                       "cpus",
                                                       "memory",
                                                       "shm_size",
                                                       "gpus",
                                                       "gpu_resource",
                                                       "resources",
                                                       "host_network",
                                                       "capabilities",
                                                       "service_account",
                                                       "image_pull_secrets",
                                                       "image_pull_policy",
                                                       "priority_class",
                                                       "scheduler",
                                                       "runtime_class",
                                                       "queue",
                                                       "node_selector",
                                                       "tolerations",
                                                       "labels",
                                                       "annotations",
                                                       "active_deadline_seconds"};

}  // namespace

Result<Settings> settings_from(const std::string& settings_json) {
  const json all = json::parse(settings_json, nullptr, false);
  TRY_ASSIGN(const auto object, SettingsObject::open(all, "settings", kKeys));
  const Reader reader(object);
  Settings settings;
  TRY(reader.image("image", settings.image));
  if (settings.image.empty()) return object.bad("image", "is missing");
  TRY(reader.image("bundle_image", settings.bundle_image));
  TRY(reader.one_of("image_pull_policy", {"Always", "IfNotPresent", "Never"},
                    settings.image_pull_policy));
  TRY(read_place(reader, settings));
  TRY(read_amounts(object, reader, settings));
  TRY(read_deadline(object, settings));
  TRY(read_rights(reader, settings));
  if (const auto flag = all.find("host_network"); flag != all.end()) {
    if (!flag->is_boolean()) return object.bad("host_network", "is not true or false");
    settings.host_network = *flag;
  }
  return settings;
}

}  // namespace lockstep::compute::kubernetes
