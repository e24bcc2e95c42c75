#include "launcher/core/base/caller.h"

#include <fmt/format.h>

namespace lockstep::launcher {

namespace {

struct Name {
  std::string operator()(const Nobody&) const { return "nobody"; }
  std::string operator()(const LauncherItself&) const { return "lockstepd"; }
  std::string operator()(const UserCaller& caller) const { return caller.name; }
  std::string operator()(const NodeCaller& caller) const {
    return fmt::format("node {}", caller.node.value);
  }
  std::string operator()(const AttemptCaller& caller) const {
    return "attempt " + to_string(caller.attempt);
  }
};

}  // namespace

std::string name_of(const Caller& caller) { return std::visit(Name{}, caller); }

std::string owner_of(const Caller& caller) {
  const auto* attempt = std::get_if<AttemptCaller>(&caller);
  return attempt != nullptr ? attempt->owner : name_of(caller);
}

}  // namespace lockstep::launcher
