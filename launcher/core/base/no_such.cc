#include "launcher/core/base/no_such.h"

#include <fmt/format.h>

#include "common/base/nearest.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kMaxNamedTargets = 10;  // the most targets in one message

std::vector<std::string_view> names_of(const Computes& computes) {
  std::vector<std::string_view> names{kLocalCompute};
  for (const auto& [name, compute] : computes.all()) names.push_back(name);
  return names;
}

}  // namespace

std::string listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMaxNamedTargets; ++i)
    text.append(i == 0 ? "" : ", ").append(names[i]);
  if (names.size() > kMaxNamedTargets)
    text += fmt::format(" and {} more (`lockstep compute list`)", names.size() - kMaxNamedTargets);
  return text;
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

}  // namespace lockstep::launcher
