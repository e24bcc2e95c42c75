#pragma once
// The secrets of users: it changes and lists them for their owners, checks that those named by a
// submission exist, and gives them to the nodes that run the job. If the store cannot be opened,
// only requests and jobs that need secrets fail.

#include <memory>
#include <set>
#include <string>

#include "common/domain/assignment.h"
#include "launcher/api/service.h"
#include "launcher/core/principals.h"
#include "launcher/store/secret_store.h"

namespace lockstep::launcher {

class UserSecrets {
 public:
  explicit UserSecrets(const std::string& folder);

  Result<ClientReply> perform(const std::string& owner, const SecretRequest& request, Instant now);
  // not_found: the message names the first secret that the owner does not have.
  Status expect(const std::string& owner, const std::set<std::string>& names);
  // Fills in the secrets that the assignments' jobs name, except for assignments that are to stop.
  void give(DesiredState& desired);
  // Those of `names` that this owner has.
  Result<SecretValues> values(const std::string& owner, const std::set<std::string>& names);
  // Removes the secrets of removed users.
  void follow(const Principals& principals);

 private:
  std::unique_ptr<SecretStore> store_;
  Error broken_;  // while there is no store
};

}  // namespace lockstep::launcher
