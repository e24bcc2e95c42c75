#pragma once
// All that a Service needs, as fakes: a whole launcher's requests without a daemon.

#include "launcher/api/service.h"
#include "tests/fakes/api/audit_trail.h"
#include "tests/fakes/api/blobs.h"
#include "tests/fakes/api/clock_and_random.h"
#include "tests/fakes/api/launcher_process.h"
#include "tests/fakes/api/measurements.h"
#include "tests/fakes/api/operator_files.h"
#include "tests/fakes/api/replies.h"
#include "tests/fakes/api/run_metrics.h"
#include "tests/fakes/api/running_core.h"
#include "tests/fakes/api/secrets.h"

namespace lockstep::test {

struct FakePorts {
  FakeClockAndRandom clock;
  FakeRunningCore core{clock};
  FakeBlobs blobs;
  FakeSecrets secrets{clock};
  FakeOperatorFiles files;
  FakeAuditTrail audit{clock};
  FakeMeasurements measurements;
  FakeLauncherProcess process{clock};
  FakeRunMetrics metrics;
  FakeReplies replies;

  launcher::Service::Ports all() {
    return {core, clock, blobs, secrets, files, audit, measurements, metrics, process, replies};
  }
};

}  // namespace lockstep::test
