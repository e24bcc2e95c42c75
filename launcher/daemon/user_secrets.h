#pragma once
// The secrets of users as this launcher's parts need them: changed and listed for their owners,
// expected by submissions, and given to the nodes that run a part of a job that names them. A store
// that cannot be opened refuses what concerns it; everything else goes on.

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
