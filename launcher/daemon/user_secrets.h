#pragma once
// Access to users' secrets: changes and lists them for their owners, checks that those of a
// submission exist, and gives them to the nodes that run a job which names them. If the store
// cannot be opened, only these requests are refused.

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
  // not_found: names the first that the owner lacks.
  Status expect(const std::string& owner, const std::set<std::string>& names);
  // Fills in those that the assignments' jobs name, while ranks may begin with them.
  void give(DesiredState& desired);
  // Those of users that were removed go.
  void follow(const Principals& principals);

 private:
  std::unique_ptr<SecretStore> store_;
  Error broken_;  // while there is no store
};

}  // namespace lockstep::launcher
