#include "envs/order.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace lockstep::envs {
namespace {

using nlohmann::json;

std::string line(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Error broken(std::string_view what, std::string_view why) {
  return make_error(ErrorCode::corrupt,
                    fmt::format("this is not {} of lockstep-env: {}", what, why));
}

json as_json(const CondaEnvironment& conda) {
  return {{"provider", "conda"},
          {"channels", conda.channels},
          {"strict_priority", conda.strict_priority},
          {"dependencies", conda.dependencies},
          {"locked", conda.locked},
          {"options", conda.options},
          {"requirements", conda.requirements},
          {"constraints", conda.constraints},
          {"variables", conda.variables}};
}

json as_json(const DockerEnvironment& docker) {
  json out{{"provider", "docker"}, {"image", docker.image}};
  if (docker.build) {
    out["context"] = docker.build->context.hex();
    out["dockerfile"] = docker.build->dockerfile;
  }
  if (docker.conda) out["conda"] = as_json(*docker.conda);
  return out;
}

json as_json(const EnvironmentDefinition& definition) {
  if (const auto* host = std::get_if<HostEnvironment>(&definition))
    return {{"provider", "host"}, {"interpreter", host->interpreter}};
  if (const auto* conda = std::get_if<CondaEnvironment>(&definition)) return as_json(*conda);
  if (const auto* docker = std::get_if<DockerEnvironment>(&definition)) return as_json(*docker);
  const auto& venv = std::get<VenvEnvironment>(definition);
  return {{"provider", "venv"},
          {"python", venv.python},
          {"options", venv.options},
          {"requirements", venv.requirements},
          {"constraints", venv.constraints}};
}

// The functions below throw json::exception.
CondaEnvironment conda_from(const json& from) {
  return {from.at("channels"),    from.at("strict_priority"), from.at("dependencies"),
          from.at("locked"),      from.at("options"),         from.at("requirements"),
          from.at("constraints"), from.at("variables")};
}

// Reads an image's definition. A malformed digest becomes one that no image has.
DockerEnvironment docker_from(const json& from) {
  DockerEnvironment docker{from.at("image"), {}, {}};
  if (from.contains("context"))
    docker.build = {Digest::from_hex(from.at("context").get<std::string>()).value_or(Digest{}),
                    from.at("dockerfile")};
  if (from.contains("conda")) docker.conda = conda_from(from.at("conda"));
  return docker;
}

EnvironmentDefinition definition_from(const json& from) {
  if (from.at("provider") == "host") return HostEnvironment{from.at("interpreter")};
  if (from.at("provider") == "conda") return conda_from(from);
  if (from.at("provider") == "docker") return docker_from(from);
  return VenvEnvironment{from.at("python"), from.at("options"), from.at("requirements"),
                         from.at("constraints")};
}

Container container_from(const json& from) {
  return {from.at("engine"),
          from.at("is_podman"),
          from.at("is_rootless"),
          from.at("image"),
          from.at("shell"),
          from.at("limits_memory"),
          from.at("unlimited_memlock"),
          from.at("gpus"),
          from.at("variables"),
          from.value("memlock_is_unlimited", false)};  // entries of earlier versions lack it
}

json as_json(const Container& container) {
  return {{"engine", container.engine},
          {"is_podman", container.is_podman},
          {"is_rootless", container.is_rootless},
          {"image", container.image},
          {"shell", container.shell},
          {"limits_memory", container.limits_memory},
          {"unlimited_memlock", container.unlimited_memlock},
          {"gpus", container.gpus},
          {"variables", container.variables},
          {"memlock_is_unlimited", container.memlock_is_unlimited}};
}

Activation activation_from(const json& from) {
  Activation activation{from.at("interpreter"), from.at("version"), from.at("path"),
                        from.at("variables")};
  if (from.contains("container")) activation.container = container_from(from.at("container"));
  return activation;
}

json as_json(const Activation& activation) {
  json out{{"interpreter", activation.interpreter},
           {"version", activation.version},
           {"path", activation.path},
           {"variables", activation.variables}};
  if (activation.container) out["container"] = as_json(*activation.container);
  return out;
}

json as_json(const ImageSite& image) {
  return {{"home", image.home},       {"spawn", image.spawn},
          {"tag", image.tag},         {"record", image.record},
          {"context", image.context}, {"tree", image.tree},
          {"program", image.program}, {"user", image.user},
          {"scratch", image.scratch}, {"cgroup_procs", image.cgroup_procs}};
}

ImageSite image_site_from(const json& from) {
  return {from.at("home"),    from.at("spawn"),       from.at("tag"),     from.at("record"),
          from.at("context"), from.at("tree"),        from.at("program"), from.at("user"),
          from.at("scratch"), from.at("cgroup_procs")};
}

json as_json(const SharedSite& shared) {
  return {{"archives", shared.archives}, {"wanted", shared.wanted}, {"fetched", shared.fetched}};
}

constexpr std::pair<Order::What, std::string_view> kWhats[] = {{Order::What::solve, "solve"},
                                                               {Order::What::build, "build"},
                                                               {Order::What::missing, "lacks"},
                                                               {Order::What::fetch, "fetch"},
                                                               {Order::What::pack, "pack"}};

std::string_view word_of(Order::What what) {
  for (const auto& [known, word] : kWhats)
    if (known == what) return word;
  return "";
}

// Reads the kind of an order. A word of another version means build, which is refused because a
// lock is missing.
Order::What what_from(const std::string& word) {
  for (const auto& [what, known] : kWhats)
    if (known == word) return what;
  return Order::What::build;
}

}  // namespace

ErrorCode error_code_from(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i)
    if (const auto code = static_cast<ErrorCode>(i); to_string(code) == word) return code;
  return ErrorCode::internal;
}

std::string to_json(const Order& order) {
  json out{{"do", word_of(order.what)},           {"definition", as_json(order.definition)},
           {"prefix", order.site.prefix},         {"cache", order.site.cache},
           {"is_rebuild", order.site.is_rebuild}, {"platform", order.site.platform}};
  if (order.site.shared != SharedSite{}) out["shared"] = as_json(order.site.shared);
  if (order.site.image != ImageSite{}) out["image"] = as_json(order.site.image);
  if (order.lock) out["lock"] = to_json(*order.lock);
  return line(out);
}

Result<Order> order_from_json(std::string_view text) {
  const json from = json::parse(text, nullptr, false);
  Order order;
  try {
    order.what = what_from(from.at("do"));
    order.definition = definition_from(from.at("definition"));
    order.site = {from.at("prefix"), from.at("cache"), from.at("is_rebuild"),
                  from.value("platform", "")};
    if (from.contains("image")) order.site.image = image_site_from(from.at("image"));
    if (from.contains("shared")) {
      const json& shared = from.at("shared");
      order.site.shared = {shared.at("archives"), shared.at("wanted"), shared.at("fetched")};
    }
    if (from.contains("lock")) {
      TRY_ASSIGN(order.lock, lock_from_json(from.at("lock").get<std::string>()));
    }
  } catch (const json::exception& failure) {
    return broken("an order", failure.what());
  }
  return order;
}

std::string to_json(const Event& event) {
  json out = json::object();
  if (!event.progress.empty()) out["progress"] = event.progress;
  if (event.lock) out["lock"] = to_json(*event.lock);
  if (event.activation) out["activation"] = as_json(*event.activation);
  if (event.missing) out["lacks"] = *event.missing;
  if (event.wants_tree) out["wants_tree"] = true;
  if (event.failed)
    out["failed"] = {{"code", to_string(event.failed->code)}, {"message", event.failed->message}};
  return line(out);
}

Result<Event> event_from_json(std::string_view text) {
  const json from = json::parse(text, nullptr, false);
  Event event;
  try {
    event.progress = from.value("progress", "");
    event.wants_tree = from.value("wants_tree", false);
    if (from.contains("lacks")) event.missing = from.at("lacks").get<std::vector<std::string>>();
    if (from.contains("lock")) {
      TRY_ASSIGN(event.lock, lock_from_json(from.at("lock").get<std::string>()));
    }
    if (from.contains("activation")) event.activation = activation_from(from.at("activation"));
    if (from.contains("failed"))
      event.failed = make_error(error_code_from(from.at("failed").at("code").get<std::string>()),
                                from.at("failed").at("message"));
  } catch (const json::exception& failure) {
    return broken("an event", failure.what());
  }
  return event;
}

std::string to_json(const Activation& activation) { return line(as_json(activation)); }

Result<Activation> activation_from_json(std::string_view text) {
  try {
    return activation_from(json::parse(text));
  } catch (const json::exception& failure) {
    return broken("an activation", failure.what());
  }
}

}  // namespace lockstep::envs
