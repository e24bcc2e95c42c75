#pragma once
// The options of lockstep-agent, and what their texts mean.

#include <CLI/CLI.hpp>
#include <string>

#include "agent/daemon/offer.h"
#include "agent/inventory/inventory.h"
#include "agent/supervise/agent_home.h"

namespace lockstep::agent {

struct Options {
  std::string launcher, token_file, home, name, log_level = "info";
  std::string log_spool = "1g", cache_size, environments_size = "20g", low_space, packages;
  int max_pids_limit = kDefaultPidsCap;
  std::string max_log_limit, max_disk_limit;
  std::string sample_every = "5s";
  std::string taken_on_sigterm;
  int notice_seconds = 0;
  std::string notice_reason = "the machine is taken away";
  std::string format = "table";
  OfferFlags offer;
};

std::string default_home();

void add_options(CLI::App& app, Options& options);
// Adds the verbs `moved` and `notice`.
void add_moved(CLI::App& app, Options& options);
void add_notice(CLI::App& app, Options& options);

// The values of options; an error: the text of the option is wrong.
Result<Share> share_of(const Offer& offer);
Result<Bytes> log_spool(const Options& options);
Result<Bytes> cache_size(const Options& options, const AgentHome& home);
Result<Bytes> environments_size(const Options& options);
Result<Bytes> low_space(const Options& options);
Result<Duration> sample_every(const Options& options);
Result<Duration> taken_on_sigterm(const Options& options);
Result<LimitCaps> caps(const Options& options);

}  // namespace lockstep::agent
