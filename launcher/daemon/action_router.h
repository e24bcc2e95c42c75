#pragma once
// Passes the core's actions of a turn, once its facts are durable, to the parts that perform them.
// It names the owner of every kind of action; a new kind does not compile without one.

#include <vector>

#include "launcher/api/service.h"
#include "launcher/daemon/ports/auditor.h"
#include "launcher/daemon/ports/job_metrics.h"
#include "launcher/daemon/providers/calls.h"
#include "launcher/daemon/remotes/output_writer.h"
#include "launcher/daemon/servers/bulk_server.h"
#include "launcher/daemon/servers/control_server.h"
#include "launcher/daemon/stores/store_compactor.h"

namespace lockstep::launcher {

struct ActionOwners {
  Service& service;
  LauncherServer& control;
  BulkServer& bulk;
  JobMetrics& metrics;
  OutputWriter& outputs;
  Auditor& audit;
  StoreCompactor& compactor;
  ProviderCalls& providers;
};

// Performs the actions that are messages first, so that they leave at once; then those about logs
// and stores. True: the core lets the launcher exit.
bool perform_all(const ActionOwners& owners, const std::vector<Action>& actions);

}  // namespace lockstep::launcher
