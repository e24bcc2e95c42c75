#include "envs/order.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "common/io/file_system.h"
#include "common/io/process.h"

namespace lockstep::envs {
namespace {

using nlohmann::json;

std::string line(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Error broken(std::string_view what, std::string_view why) {
  return make_error(ErrorCode::corrupt, fmt::format("not {} of lockstep-env: {}", what, why));
}

json as_json(const EnvironmentDefinition& definition) {
  if (const auto* host = std::get_if<HostEnvironment>(&definition))
    return {{"provider", "host"}, {"interpreter", host->interpreter}};
  if (const auto* conda = std::get_if<CondaEnvironment>(&definition))
    return {{"provider", "conda"},
            {"channels", conda->channels},
            {"strict_priority", conda->strict_priority},
            {"dependencies", conda->dependencies},
            {"locked", conda->locked},
            {"options", conda->options},
            {"requirements", conda->requirements},
            {"constraints", conda->constraints},
            {"variables", conda->variables}};
  const auto& venv = std::get<VenvEnvironment>(definition);
  return {{"provider", "venv"},
          {"python", venv.python},
          {"options", venv.options},
          {"requirements", venv.requirements},
          {"constraints", venv.constraints}};
}

// These throw json::exception.
EnvironmentDefinition definition_from(const json& from) {
  if (from.at("provider") == "host") return HostEnvironment{from.at("interpreter")};
  if (from.at("provider") == "conda")
    return CondaEnvironment{from.at("channels"),     from.at("strict_priority"),
                            from.at("dependencies"), from.at("locked"),
                            from.at("options"),      from.at("requirements"),
                            from.at("constraints"),  from.at("variables")};
  return VenvEnvironment{from.at("python"), from.at("options"), from.at("requirements"),
                         from.at("constraints")};
}

Activation activation_from(const json& from) {
  return {from.at("interpreter"), from.at("version"), from.at("path"), from.at("variables")};
}

json as_json(const Activation& activation) {
  return {{"interpreter", activation.interpreter},
          {"version", activation.version},
          {"path", activation.path},
          {"variables", activation.variables}};
}

class Events {
 public:
  explicit Events(int fd) : fd_(fd) {}
  void tell(const Event& event) const { (void)!io::write_all(fd_, to_json(event)); }

 private:
  const int fd_;
};

Event do_it(const Order& order, Toolbox& tools) {
  Event last;
  const auto provider = provider_of_kind(order.definition);
  if (order.what == Order::What::solve) {
    auto lock = provider->solve(tools, order.site);
    if (lock)
      last.lock = std::move(*lock);
    else
      last.failed = std::move(lock).error();
    return last;
  }
  auto built = provider->build(tools, order.site, order.lock.value_or(Lock{}));
  if (built)
    last.activation = std::move(*built);
  else
    last.failed = std::move(built).error();
  return last;
}

}  // namespace

ErrorCode error_code_from(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i)
    if (const auto code = static_cast<ErrorCode>(i); to_string(code) == word) return code;
  return ErrorCode::internal;
}

std::string to_json(const Order& order) {
  json out{{"do", order.what == Order::What::solve ? "solve" : "build"},
           {"definition", as_json(order.definition)},
           {"prefix", order.site.prefix},
           {"cache", order.site.cache},
           {"is_rebuild", order.site.is_rebuild},
           {"platform", order.site.platform}};
  if (order.lock) out["lock"] = to_json(*order.lock);
  return line(out);
}

Result<Order> order_from_json(std::string_view text) {
  const json from = json::parse(text, nullptr, false);
  Order order;
  try {
    order.what = from.at("do") == "solve" ? Order::What::solve : Order::What::build;
    order.definition = definition_from(from.at("definition"));
    order.site = {from.at("prefix"), from.at("cache"), from.at("is_rebuild"),
                  from.value("platform", "")};
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
  if (event.failed)
    out["failed"] = {{"code", to_string(event.failed->code)}, {"message", event.failed->message}};
  return line(out);
}

Result<Event> event_from_json(std::string_view text) {
  const json from = json::parse(text, nullptr, false);
  Event event;
  try {
    event.progress = from.value("progress", "");
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

void carry_out(const Order& order, int events) {
  const Events told(events);
  Toolbox tools(io::own_environment(), "/", [&](std::string_view said) {
    Event event;
    event.progress = std::string(said);
    told.tell(event);
  });
  told.tell(do_it(order, tools));
}

}  // namespace lockstep::envs
