// Moves trees and locks between a build and the launcher's blob store. Waits while the launcher is
// away.

#include <fmt/format.h>

#include "agent/environment/build.h"
#include "common/io/file_system.h"

namespace lockstep::agent {
namespace {

constexpr Duration kTryAgainAfter = seconds(2);

bool may_pass(const Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::resource_exhausted;
}

}  // namespace

// ---- trees of the launcher's store

Status Build::fetch_tree(const Digest& tree, const std::string& folder, const std::string& what) {
  for (;;) {
    TRY(io::remove_tree(folder));
    const Status fetched = parts_.locks.write_out(tree, folder, [&](const std::string& text) {
      show(fmt::format("fetching {}: {}", what, text));
      share();
    });
    if (fetched) return {};
    const Error error = fetched.error().within("cannot fetch " + what);
    if (!may_pass(error)) return make_error(ErrorCode::unavailable, error.message);
    show("waiting for the launcher: " + error.message);
    if (!pause(kTryAgainAfter)) return error;
  }
}

Status Build::fetch_context() {
  const auto* docker = std::get_if<DockerEnvironment>(&target_.definition);
  if (docker == nullptr || !docker->build) return {};
  return fetch_tree(docker->build->context, entry_.context(), "the build's context");
}

// ---- locks

// Tries again when the launcher has lost the lock or it is damaged: the next try may find it.
Result<envs::Lock> Build::fetch_lock() {
  for (;;) {
    show("fetching the lock of the environment");
    const auto text = parts_.locks.fetch(*target_.lock);
    if (text) {
      auto lock = envs::lock_from_json(*text);
      if (lock) return lock;
      return make_error(ErrorCode::unavailable,
                        "the lock of the environment: " + lock.error().message);
    }
    const Error error = text.error().within("cannot fetch the lock of the environment");
    if (!may_pass(error)) return make_error(ErrorCode::unavailable, error.message);
    show("waiting for the launcher: " + error.message);
    if (!pause(kTryAgainAfter)) return error;
  }
}

Result<Digest> Build::store_lock() {
  for (;;) {
    show("sending the lock of the environment");
    auto tree = parts_.locks.store(entry_.solved_folder());
    if (tree || !may_pass(tree.error())) return tree;
    show("waiting to send the lock of the environment: " + tree.error().message);
    if (!pause(kTryAgainAfter)) return tree;
  }
}

}  // namespace lockstep::agent
