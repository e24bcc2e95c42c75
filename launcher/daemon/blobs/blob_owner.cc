#include "launcher/daemon/blobs/blob_owner.h"

#include "launcher/state/roots.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {
namespace {

// The most sources that are searched for an upload's blobs.
constexpr std::size_t kMaxOwnSources = 16;

}  // namespace

std::string blob_owner_name(const Caller& caller) {
  return std::holds_alternative<UserCaller>(caller) ? "user " + name_of(caller) : name_of(caller);
}

BlobOwner blob_owner_of(const Core& core, const Caller& caller) {
  BlobOwner owner{blob_owner_name(caller), {}, false};
  if (const auto* node = std::get_if<NodeCaller>(&caller)) {
    owner.is_node = true;
    owner.trees = core.trees_of(node->node);
  } else if (const auto* attempt = std::get_if<AttemptCaller>(&caller)) {
    owner.trees = sources_of_family(core.state(), attempt->attempt.job, kMaxOwnSources);
  } else {
    owner.trees = newest_sources(core.state(), name_of(caller), kMaxOwnSources);
  }
  return owner;
}

}  // namespace lockstep::launcher
