#include "launcher/core/targets/size_requests.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/nearest.h"
#include "launcher/core/access/users.h"
#include "launcher/core/base/counted.h"
#include "launcher/core/base/sizes.h"

namespace lockstep::launcher {

namespace {

struct AskedOfSizes {
  Context& core;
  const SizeInput& input;

  void refuse(ErrorCode code, std::string message) const {
    core.refuse(input.reply, code, std::move(message));
  }
  std::string by() const { return name_of(input.caller); }

  // Defines sizes. All are checked before the first is recorded, so that either the whole file is
  // accepted or none of it.
  void operator()(const DefineSizes& ask) const {
    const Sizes& known = core.state.sizes().all();
    std::size_t more = 0;
    for (const Size& size : ask.sizes) {
      if (const Status good = check(size); !good)
        return refuse(good.error().code,
                      fmt::format("size {}: {}", size.name.substr(0, 100), good.error().message));
      more += known.count(size_key(size.name)) == 0 ? 1 : 0;
    }
    if (ask.sizes.empty()) return refuse(ErrorCode::invalid_argument, "no size was given");
    if (known.size() + more > kMaxSizes)
      return refuse(ErrorCode::resource_exhausted,
                    fmt::format("there are {} sizes of yours, and at most {} are possible; remove "
                                "some first (`lockstep size remove NAME`)",
                                known.size(), kMaxSizes));
    std::vector<std::string> names;
    for (const Size& size : ask.sizes) {
      names.push_back(size.name);
      const Size* same = core.state.sizes().find(size.name);
      if (same == nullptr || !(*same == size)) core.emit(SizeDefined{size, by()});
    }
    core.act(ReplySizes{input.reply, std::move(names)});
  }

  void operator()(const RemoveSize& ask) const {
    const Size* own = core.state.sizes().find(ask.name);
    const Size* known = size_called(core.state, core.config, ask.name);
    if (known == nullptr) {
      const Error error = no_such_size(core.state, core.config, ask.name);
      return refuse(error.code, error.message);
    }
    if (own == nullptr)
      return refuse(ErrorCode::conflict,
                    fmt::format("size {} is one of the launcher's catalogue and stays; `lockstep "
                                "size add -f FILE` with this name replaces it",
                                known->name));
    const std::string name = own->name;
    const bool is_replaced = core.config.catalogue.sizes.count(size_key(name)) != 0;
    const auto targets = targets_of_size(core.state, name);
    if (!is_replaced && !targets.empty())
      return refuse(
          ErrorCode::conflict,
          fmt::format("size {} is that of target '{}'{}; delete {} first", name, targets.front(),
                      targets.size() == 1 ? "" : fmt::format(" and of {} more", targets.size() - 1),
                      targets.size() == 1 ? "it" : "them"));
    core.emit(SizeRemoved{name, by()});
    core.act(ReplyDone{input.reply, is_replaced
                                        ? fmt::format("size {} is as in the catalogue again", name)
                                        : fmt::format("size {} is removed", name)});
  }

  void operator()(const GrantSize& ask) const {
    const Size* size = size_called(core.state, core.config, ask.name);
    if (size == nullptr) {
      const Error error = no_such_size(core.state, core.config, ask.name);
      return refuse(error.code, error.message);
    }
    const int used = machines_of_size(core.state, size->name);
    if (ask.machines < used)
      return refuse(ErrorCode::conflict,
                    fmt::format("the targets of size {} may have {} together ({}); lower their "
                                "max_instances or delete some first",
                                size->name, counted(static_cast<std::size_t>(used), "machine"),
                                fmt::join(targets_of_size(core.state, size->name), ", ")));
    const std::string name = size->name;
    if (core.state.sizes().granted(name) != ask.machines)
      core.emit(SizeGranted{name, ask.machines, by()});
    core.act(ReplySizes{input.reply, {name}});
  }
};

SizeView view_of_size(const Cluster& cluster, const Size& size) {
  SizeView view;
  view.size = size;
  view.is_own = cluster.state.sizes().find(size.name) != nullptr;
  view.quota = quota_of(cluster.state, size);
  view.used = machines_of_size(cluster.state, size.name);
  view.targets = targets_of_size(cluster.state, size.name);
  return view;
}

}  // namespace

void react(Context& core, const SizeInput& input) {
  if (!permitted(core, input.reply, input.caller, Permission::manage_computes)) return;
  std::visit(AskedOfSizes{core, input}, input.ask);
}

int machines_of_size(const State& state, const std::string& name) {
  int machines = 0;
  for (const std::string& target : targets_of_size(state, name))
    machines += most_machines(state.computes().find(target)->spec);
  return machines;
}

std::optional<Error> refused_by_size(const State& state, const CoreConfig& config,
                                     const ComputeSpec& spec) {
  if (spec.size.empty()) return std::nullopt;
  const Size* size = size_called(state, config, spec.size);
  if (size == nullptr) return no_such_size(state, config, spec.size);
  if (is_elastic(spec) && !is_instance(spec) && !size->for_clusters)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("size {} cannot be that of a cluster", size->name));
  if (is_instance(spec) && !size->for_instances)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("size {} cannot be that of a computeinstance", size->name));
  const auto quota = quota_of(state, *size);
  if (!quota) return std::nullopt;
  const Compute* before = state.computes().find(spec.name);
  const bool had_it = before != nullptr && size_key(before->spec.size) == size_key(spec.size);
  const int mine = most_machines(spec);
  const int had = had_it ? most_machines(before->spec) : 0;
  const int others = machines_of_size(state, size->name) - had;
  if (others + mine <= *quota || mine <= had) return std::nullopt;
  const std::string how = fmt::format(
      "an admin grants more with `lockstep size grant {} "
      "--machines {}`",
      size->name, others + mine);
  if (*quota == 0)
    return make_error(ErrorCode::resource_exhausted,
                      fmt::format("size {} needs approval, and none is given: its quota is 0; {}",
                                  size->name, how));
  return make_error(
      ErrorCode::resource_exhausted,
      fmt::format("size {} has a quota of {}; other targets may have {} of them, and this one asks "
                  "for {}; {}",
                  size->name, counted(static_cast<std::size_t>(*quota), "machine"), others, mine,
                  how));
}

std::optional<int> quota_of(const State& state, const Size& size) {
  if (const auto granted = state.sizes().granted(size.name)) return granted;
  if (size.needs_approval) return 0;
  return std::nullopt;
}

Error no_such_size(const State& state, const CoreConfig& config, const std::string& name) {
  std::vector<std::string_view> keys;
  for (const auto& [key, size] : config.catalogue.sizes) keys.push_back(key);
  for (const auto& [key, size] : state.sizes().all()) keys.push_back(key);
  const std::string near = nearest(size_key(name), keys);
  const Size* meant = size_called(state, config, near);
  return make_error(
      ErrorCode::not_found,
      fmt::format("there is no size '{}'; {}`lockstep compute list-sizes` shows all, and `lockstep "
                  "size add -f FILE` adds one",
                  name.substr(0, 100),
                  meant == nullptr ? "" : fmt::format("did you mean '{}'? ", meant->name)));
}

std::vector<SizeView> size_views(const Cluster& cluster, const std::vector<std::string>& names) {
  std::vector<SizeView> views;
  for (const std::string& name : names)
    if (const Size* size = size_called(cluster.state, cluster.config, name))
      views.push_back(view_of_size(cluster, *size));
  if (!names.empty()) return views;
  std::map<std::string, const Size*> all;
  for (const auto& [key, size] : cluster.config.catalogue.sizes) all[key] = &size;
  for (const auto& [key, size] : cluster.state.sizes().all()) all[key] = &size;
  for (const auto& [key, size] : all) views.push_back(view_of_size(cluster, *size));
  return views;
}

}  // namespace lockstep::launcher
