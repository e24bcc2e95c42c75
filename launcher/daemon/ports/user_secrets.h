#pragma once
// The secrets of users: it changes and lists them for their owners, checks that those named by a
// submission exist, and gives them to the nodes that run the job. If the store cannot be opened,
// only requests and jobs that need secrets fail.

#include <memory>
#include <set>
#include <string>

#include "common/domain/runners/assignment.h"
#include "launcher/api/ports/clock_and_random.h"
#include "launcher/api/ports/secrets.h"
#include "launcher/state/people/principals.h"
#include "launcher/store/secret_store.h"

namespace lockstep::launcher {

class UserSecrets final : public Secrets {
 public:
  UserSecrets(const std::string& folder, ClockAndRandom& clock);

  Status set(const std::string& owner, const std::string& name, const std::string& value) override;
  Status remove(const std::string& owner, const std::string& name) override;
  Result<std::vector<SecretView>> list(const std::string& owner) override;
  Status expect(const std::string& owner, const std::set<std::string>& names) override;
  // Fills in the secrets that the assignments' jobs name, except for assignments that are to stop.
  void give(DesiredState& desired);
  // The values of the `names` that this owner has set.
  Result<SecretValues> values(const std::string& owner, const std::set<std::string>& names);
  // Removes the secrets of removed users.
  void follow(const Principals& principals);

 private:
  ClockAndRandom& clock_;
  std::unique_ptr<SecretStore> store_;
  Error broken_;  // why there is no store
};

}  // namespace lockstep::launcher
