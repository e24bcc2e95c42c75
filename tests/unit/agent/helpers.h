#pragma once
// Helpers that the tests of the agent share.

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "common/domain/runners/assignment.h"
#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::agent {

using test::TempDir;

inline void put(const std::string& path, const std::string& text) {
  ASSERT_TRUE(io::make_directories(path.substr(0, path.rfind('/'))));
  ASSERT_TRUE(io::write_file_atomically(path, text, 0644, false));
}

// Calls `turn` until the condition holds; false if `limit` passes first.
inline bool turn_until(const std::function<void()>& turn, const std::function<bool()>& condition,
                       Duration limit = seconds(20)) {
  io::SystemClock clock;
  const Instant end = clock.now() + limit;
  while (!condition()) {
    if (clock.now() > end) return false;
    turn();
  }
  return true;
}

// `behaviour`: see fake_runner.cc.
inline Assignment make_assignment(const std::string& job, const std::string& behaviour) {
  Assignment assignment;
  assignment.attempt = {JobId(job), 1};
  assignment.spec.name = job;
  assignment.spec.command = Argv{{"true"}};
  assignment.spec.environment_variables["BEHAVIOUR"] = behaviour;
  assignment.allotment.cpus = {0};
  assignment.phase = WantedPhase::run;
  assignment.solo = true;
  GangTable gang;
  gang.members.resize(1);
  assignment.gang = gang;
  return assignment;
}

}  // namespace lockstep::agent
