#include "launcher/core/compute_requests.h"

#include <fmt/format.h>

#include "common/base/nearest.h"
#include "launcher/core/counted.h"
#include "launcher/core/users.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kMaxNamedTargets = 10;  // in one message

std::vector<std::string_view> names_of(const Computes& computes) {
  std::vector<std::string_view> names{kLocalCompute};
  for (const auto& [name, compute] : computes.all()) names.push_back(name);
  return names;
}

// "local, cpu-cluster and 3 more"
std::string listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMaxNamedTargets; ++i)
    text.append(i == 0 ? "" : ", ").append(names[i]);
  if (names.size() > kMaxNamedTargets)
    text += fmt::format(" and {} more (`lockstep compute list`)", names.size() - kMaxNamedTargets);
  return text;
}

struct Asked {
  Context& core;
  const ComputeInput& input;

  void refuse(ErrorCode code, std::string message) const {
    core.refuse(input.reply, code, std::move(message));
  }
  void refuse(const Error& error) const { refuse(error.code, error.message); }
  std::string by() const { return name_of(input.caller); }

  // "local" is there from the start, and what is there from the start stays as it is.
  bool is_local(const std::string& name) const {
    if (name != kLocalCompute) return false;
    refuse(ErrorCode::conflict,
           "target 'local' always exists; it cannot be created, changed or deleted");
    return true;
  }

  void operator()(const CreateCompute& ask) const {
    const ComputeSpec& spec = ask.spec;
    if (is_local(spec.name)) return;
    if (const Status good = check(spec); !good) return refuse(good.error());
    if (const Compute* known = core.state.computes().find(spec.name)) {
      if (known->spec == spec) return core.act(ReplyCompute{input.reply, spec.name});
      return refuse(ErrorCode::already_exists,
                    fmt::format("compute target '{}' already exists with other settings; `lockstep "
                                "compute update {}` changes it",
                                spec.name, spec.name));
    }
    if (core.state.computes().all().size() >= kMaxComputes)
      return refuse(ErrorCode::resource_exhausted,
                    fmt::format("there are {} compute targets, the most allowed; delete one first",
                                kMaxComputes));
    core.emit(ComputeCreated{spec, by()});
    core.act(ReplyCompute{input.reply, spec.name});
  }

  void operator()(const UpdateCompute& ask) const {
    const ComputeSpec& spec = ask.spec;
    if (is_local(spec.name)) return;
    const Compute* known = core.state.computes().find(spec.name);
    if (known == nullptr) return refuse(no_such_compute(core.state, spec.name));
    if (const Status good = check(spec); !good) return refuse(good.error());
    if (known->spec.type != spec.type)
      return refuse(ErrorCode::invalid_argument,
                    fmt::format("compute target '{}' is of type {}, and its type cannot be "
                                "changed; create another target of type {}",
                                spec.name, to_string(known->spec.type), to_string(spec.type)));
    if (!(known->spec == spec)) core.emit(ComputeUpdated{spec, by()});
    core.act(ReplyCompute{input.reply, spec.name});
  }

  void operator()(const DeleteCompute& ask) const {
    const std::string& name = ask.name;
    if (is_local(name)) return;
    const Computes& computes = core.state.computes();
    if (computes.find(name) == nullptr) return refuse(no_such_compute(core.state, name));
    const auto jobs = static_cast<std::size_t>(computes.load_of(name).unfinished);
    if (jobs > 0)
      return refuse(ErrorCode::conflict,
                    fmt::format("compute target '{}' has {} that {} not ended; cancel {} first, or "
                                "wait",
                                name, counted(jobs, "job"), jobs == 1 ? "has" : "have",
                                jobs == 1 ? "it" : "them"));
    const std::string pool = computes.pool_of(name);
    if (pool == name && !computes.nodes_of(pool).empty())
      return refuse(ErrorCode::conflict,
                    fmt::format("compute target '{}' has {}; remove {} first (`lockstep compute "
                                "list-nodes {}`, `lockstep node remove NODE`)",
                                name, counted(computes.nodes_of(pool).size(), "node"),
                                computes.nodes_of(pool).size() == 1 ? "it" : "them", name));
    if (pool == name) forget_tokens(pool);
    core.emit(ComputeDeleted{name, by()});
    core.act(ReplyDone{input.reply, fmt::format("compute target '{}' is deleted", name)});
  }

  // A node must not join a target that is gone, nor another one of the same name later.
  void forget_tokens(const std::string& pool) const {
    const std::map<Digest, Token> tokens = core.state.tokens();
    for (const auto& [hash, token] : tokens)
      if (token.pool == pool) core.emit(TokenForgotten{hash});
  }
};

ComputeView::Nodes count_nodes(const Cluster& cluster, const std::string& pool) {
  ComputeView::Nodes count;
  for (const Node& node : cluster.state.nodes_of(pool)) {
    ++count.total;
    if (!node.parts.empty())
      ++count.busy;
    else if (why_unusable(cluster, node))
      ++count.unavailable;
    else
      ++count.idle;
  }
  return count;
}

}  // namespace

void react(Context& core, const ComputeInput& input) {
  if (!permitted(core, input.reply, input.caller, Permission::manage_computes)) return;
  std::visit(Asked{core, input}, input.ask);
}

Error no_such_compute(const State& state, const std::string& name) {
  const std::vector<std::string_view> names = names_of(state.computes());
  const std::string near = nearest(name, names);
  std::string text = fmt::format("there is no compute target '{}'", name);
  if (!near.empty()) text += fmt::format("; did you mean '{}'?", near);
  text += fmt::format("{} Existing targets: {}. ", near.empty() ? "." : "", listed(names));
  text += check_compute_name(name)
              ? fmt::format(
                    "`lockstep compute create --name {} --type local` makes '{}' another "
                    "name of target local",
                    name, name)
              : "`lockstep compute list` shows them";
  return make_error(ErrorCode::not_found, std::move(text));
}

std::optional<ComputeView> compute_view(const Cluster& cluster, const std::string& name) {
  const Computes& computes = cluster.state.computes();
  if (!computes.has(name)) return std::nullopt;
  ComputeView view;
  view.spec.name = name;
  if (const Compute* compute = computes.find(name)) {
    view.spec = compute->spec;
    view.created = compute->created;
    view.created_by = compute->by;
  }
  view.pool = computes.pool_of(name);
  view.nodes = count_nodes(cluster, view.pool);
  const ComputeLoad load = computes.load_of(name);
  view.queued_jobs = load.queued;
  view.running_jobs = load.running;
  return view;
}

}  // namespace lockstep::launcher
