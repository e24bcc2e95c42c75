#pragma once
// Takes the core's actions of a turn, whose facts are durable, to the servers that perform them. It
// names the owner of every action: a new one does not compile until somebody says whose it is.

#include <vector>

#include "launcher/daemon/bulk_server.h"
#include "launcher/daemon/launcher_server.h"
#include "launcher/daemon/store_compactor.h"

namespace lockstep::launcher {

struct ActionOwners {
  LauncherServer& control;
  BulkServer& bulk;
  StoreCompactor& compactor;
};

// First all messages, which leave at once; then logs and stores.
void perform_all(const ActionOwners& owners, const std::vector<Action>& actions);

}  // namespace lockstep::launcher
