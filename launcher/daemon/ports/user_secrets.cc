#include "launcher/daemon/ports/user_secrets.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace lockstep::launcher {

UserSecrets::UserSecrets(const std::string& folder, ClockAndRandom& clock) : clock_(clock) {
  auto opened = SecretStore::open(folder);
  if (opened) {
    store_ = *std::move(opened);
    return;
  }
  broken_ = opened.error();
  spdlog::error("secrets cannot be used: {}", broken_.message);
}

Status UserSecrets::set(const std::string& owner, const std::string& name,
                        const std::string& value) {
  if (!store_) return broken_;
  return store_->set(owner, name, value, clock_.now());
}

Status UserSecrets::remove(const std::string& owner, const std::string& name) {
  if (!store_) return broken_;
  return store_->remove(owner, name);
}

Result<std::vector<SecretView>> UserSecrets::list(const std::string& owner) {
  if (!store_) return broken_;
  return store_->list(owner);
}

Status UserSecrets::expect(const std::string& owner, const std::set<std::string>& names) {
  if (names.empty()) return {};
  if (!store_) return broken_;
  for (const std::string& name : names) {
    TRY_ASSIGN(const bool known, store_->has(owner, name));
    if (!known)
      return make_error(ErrorCode::not_found,
                        fmt::format("environment_variables: user '{}' has no secret '{}'; set it "
                                    "with `lockstep secret set {}`",
                                    owner, name, name));
  }
  return {};
}

void UserSecrets::give(DesiredState& desired) {
  for (Assignment& assignment : desired.assignments) {
    if (assignment.phase == WantedPhase::stop) continue;
    const auto names = secrets_of(assignment.spec.environment_variables);
    if (names.empty()) continue;
    assignment.secrets.emplace();
    if (!store_) continue;
    auto values = store_->values(assignment.spec.submitter, names);
    if (values)
      assignment.secrets = *std::move(values);
    else
      spdlog::error("attempt {} starts without its secrets: {}", to_string(assignment.attempt),
                    values.error().message);
  }
}

Result<SecretValues> UserSecrets::values(const std::string& owner,
                                         const std::set<std::string>& names) {
  if (!store_) return broken_;
  return store_->values(owner, names);
}

void UserSecrets::follow(const Principals& principals) {
  if (!store_) return;
  std::set<std::string> names;
  for (const auto& [name, user] : principals.users()) names.insert(name);
  if (const auto done = store_->keep_only(names); !done)
    spdlog::error("could not delete the secrets of removed users: {}", done.error().message);
}

}  // namespace lockstep::launcher
