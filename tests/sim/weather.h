#pragma once
// The faults of one seed: which ones occur, how often, and how slow things are. Drawn from the
// seed. Some seeds are calm (no faults); then checkers reject what only a fault may cause.

#include "tests/sim/random.h"

namespace lockstep::sim {

struct Weather {
  // The network between launcher and agents; probabilities per message.
  double drop = 0, duplicate = 0, slow = 0;
  Duration slow_most = milliseconds(0);
  // Probabilities per occasion.
  double runner_socket_loss = 0;  // agent <-> runner connection breaks on a message
  double staging_fails = 0, staging_slow = 0, start_fails = 0;
  double commit_fails = 0, crash_in_turn = 0;
  double disk_stall = 0;  // per write of the journal: it takes seconds
  double log_slow = 0, collecting_slow = 0;
  double port_taken = 0;
  double checkpoint_slow = 0;
  double environment_fails = 0, environment_slow = 0;
  double unable_nodes = 0;     // per node: it can solve no environment
  int platforms = 1;           // how many platforms the nodes have
  double other_libraries = 0;  // per start of an agent: its node's library versions change
  double provider_fails = 0, provider_crashes = 0;  // per machine, per call
  double low_disk = 0;  // per heartbeat: its node is low on disk space for a while
  double no_space =
      0;  // per collection: the launcher has no space for outputs and logs for a while
  double no_space_for_logs = 0;    // the same, per part whose logs are sent
  bool no_space_for_good = false;  // space runs out at the end; jobs that wait for it are canceled
  // Mean seconds between two faults of a kind; 0 = never.
  double launcher_crash = 0, launcher_stop = 0;
  double agent_crash = 0, agent_stop = 0;
  double runner_crash = 0, spawn_crash = 0;
  double detach = 0;  // a host of the lab
  double take = 0;    // a machine, with notice
  double reboot = 0, partition = 0, clone = 0, drain = 0, remove = 0, revoke = 0;
  // Chance per turn that a compaction of the journal begins, chance per job that somebody deletes
  // it when it has ended, and how long final jobs are kept (0: for ever).
  double compact = 0, delete_job = 0;
  Duration keep_jobs_for{0};
  bool long_cuts = false;  // nodes are cut off for longer than a lease, and jobs last long
  bool calm = false;
  // Trees of gangs, which have few nodes here; and the rows of a GangRows.
  int gang_radix = 1, rows_in_message = 1;
  double old_runners = 0;   // per runner: it knows no rows
  double rows_altered = 0;  // per table that is passed on: it is altered

  static Weather fine() {
    Weather weather;
    weather.calm = true;
    return weather;
  }
};

inline Weather draw_weather(Random& random) {
  Weather w;
  const bool some_unable = random.chance(0.5);
  const int gang_radix = random.between(1, 3), rows_in_message = random.between(1, 3);
  const double old_runners = random.chance(0.3) ? 0.2 : 0;
  if (random.chance(0.15)) {
    w = Weather::fine();
    w.unable_nodes = some_unable ? 0.6 : 0;
    w.gang_radix = gang_radix;
    w.rows_in_message = rows_in_message;
    w.old_runners = old_runners;
    return w;
  }
  w.gang_radix = gang_radix;
  w.rows_in_message = rows_in_message;
  w.old_runners = old_runners;
  w.unable_nodes = some_unable ? 0.6 : 0;
  const auto sometimes = [&](double often, double least, double most) {
    return random.chance(often) ? least + random.unit() * (most - least) : 0.0;
  };
  w.drop = sometimes(0.5, 0.001, 0.15);
  w.duplicate = sometimes(0.5, 0.001, 0.15);
  w.slow = sometimes(0.5, 0.001, 0.1);
  w.slow_most = random.between(milliseconds(50), milliseconds(4000));
  w.runner_socket_loss = sometimes(0.4, 0.01, 0.2);
  w.staging_fails = sometimes(0.4, 0.02, 0.2);
  w.staging_slow = sometimes(0.4, 0.02, 0.3);
  w.start_fails = sometimes(0.3, 0.02, 0.15);
  w.commit_fails = sometimes(0.2, 0.0005, 0.005);
  w.crash_in_turn = sometimes(0.3, 0.0005, 0.01);
  w.log_slow = sometimes(0.3, 0.05, 0.4);
  w.collecting_slow = sometimes(0.4, 0.05, 0.4);
  w.port_taken = sometimes(0.3, 0.05, 0.3);
  w.checkpoint_slow = sometimes(0.4, 0.05, 0.4);
  w.launcher_crash = sometimes(0.4, 5, 60);
  w.launcher_stop = sometimes(0.3, 10, 60);
  w.agent_crash = sometimes(0.5, 5, 40);
  w.agent_stop = sometimes(0.2, 10, 60);
  w.runner_crash = sometimes(0.4, 5, 40);
  w.spawn_crash = sometimes(0.2, 5, 40);
  w.reboot = sometimes(0.4, 10, 60);
  w.partition = sometimes(0.4, 10, 60);
  w.clone = sometimes(0.1, 20, 60);
  w.drain = sometimes(0.3, 10, 60);
  w.remove = sometimes(0.3, 2, 10);
  w.compact = sometimes(0.5, 0.002, 0.05);
  w.delete_job = sometimes(0.5, 0.3, 1);
  if (random.chance(0.3)) w.keep_jobs_for = random.between(seconds(5), seconds(60));
  w.environment_fails = sometimes(0.4, 0.02, 0.3);
  w.environment_slow = sometimes(0.4, 0.02, 0.3);
  w.platforms = random.chance(0.3) ? 2 : 1;
  w.other_libraries = sometimes(0.5, 0.1, 0.5);
  w.low_disk = sometimes(0.3, 0.005, 0.05);
  w.no_space = sometimes(0.3, 0.05, 0.3);
  w.no_space_for_logs = w.no_space / 4;
  w.no_space_for_good = random.chance(0.1);
  w.long_cuts = random.chance(0.3);
  if (w.long_cuts) {
    w.partition = 8 + random.unit() * 10;
    w.slow = 0.1;
  }
  w.revoke = sometimes(0.3, 15, 60);
  w.detach = sometimes(0.6, 5, 30);
  w.disk_stall = sometimes(0.3, 0.001, 0.01);
  w.provider_fails = sometimes(0.5, 0.05, 0.4);
  w.provider_crashes = sometimes(0.5, 0.05, 0.4);
  w.take = sometimes(0.4, 5, 40);
  w.rows_altered = sometimes(0.3, 0.02, 0.3);
  return w;
}

}  // namespace lockstep::sim
