#pragma once
// The system's Slurm, by its command line programs: submits, lists and cancels the jobs of a
// target. A job's comment is its tag.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "launcher/compute/at_once.h"
#include "launcher/compute/contract.h"
#include "launcher/compute/slurm/settings.h"

namespace lockstep::compute::slurm {

struct Job {
  enum class State { pending, running, ended };
  std::string id;
  State state = State::ended;
  std::string word;    // Slurm's for the state: "PREEMPTED"
  std::string reason;  // why it waits, or how it ended: "Resources", "TIMEOUT"
  std::string node;    // the node on which it runs
  // The job's time limit, and how much of it is left; nullopt: Slurm ends it at no known time.
  std::optional<Duration> limit = {}, left = {};
  friend bool operator==(const Job&, const Job&) = default;
};
// The jobs by machine: the one that runs or waits, otherwise the newest one.
using Jobs = std::map<std::string, Job>;

// The job's tag: "lockstep LAUNCHER TARGET MACHINE"
std::string tag_of(const Request& request, const std::string& machine);
// Reads the output of squeue. Jobs without this request's tag are left out.
Jobs jobs_from(const Request& request, const std::string& text);

// Jobs that have ended are there for some minutes (Slurm's MinJobAge).
Attempt<Jobs> list_jobs(const Request& request, const std::string& step);
// The arguments of sbatch, without the job's script, which sbatch reads from its standard input.
std::vector<std::string> sbatch_words(const Request& request, const Settings& settings,
                                      const std::string& machine, const std::string& output);
// Submits a job, and returns its id.
Attempt<std::string> submit(std::vector<std::string> words, const std::string& script);
// Asks whether Slurm would take such a job; submits nothing.
Attempt<void> would_take(std::vector<std::string> words, const std::string& script);
Attempt<void> cancel(const std::string& id);

// The failure that Slurm's error output describes.
Failed slurm_failure(const std::string& step, std::string_view errors);

}  // namespace lockstep::compute::slurm
