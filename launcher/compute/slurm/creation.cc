#include "launcher/compute/slurm/creation.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "common/io/clock.h"
#include "common/io/disk.h"
#include "launcher/compute/bundle.h"
#include "launcher/compute/slurm/job_script.h"

namespace lockstep::compute::slurm {
namespace {

constexpr Duration kPollInterval = milliseconds(250);
constexpr Duration kMostQueued = seconds(8);  // how long to wait for a job in the queue
// How long to wait for a running job; an agent gives up after 30 s.
constexpr Duration kJoinTimeout = seconds(90);

const Job* job_of(const Jobs& jobs, const std::string& machine, const std::string& id) {
  const auto found = jobs.find(machine);
  return found != jobs.end() && found->second.id == id ? &found->second : nullptr;
}

std::string node_name(std::string name) {
  std::replace(name.begin(), name.end(), ':', '-');
  return name;
}

}  // namespace

void tell(const std::string& machine, const Job* job, Events& events) {
  if (job == nullptr) return events.machine(machine, "absent", {});
  About about{{"job", job->id}};
  if (job->state == Job::State::running) {
    about.emplace_back("node", job->node);
    about.emplace_back("tunnel", false);
    if (job->limit) {
      // For a job past its limit, squeue prints "INVALID", which counts as no time left.
      const Duration left = job->left.value_or(Duration(0));
      about.emplace_back("lifetime", std::to_string(*job->limit / seconds(1)));
      about.emplace_back("left", std::to_string(left / seconds(1)));
    }
    return events.machine(machine, "running", about);
  }
  about.emplace_back("reason", job->reason);
  events.machine(machine, job->state == Job::State::pending ? "pending" : "absent", about);
}

int Creation::run(const Jobs& jobs) {
  std::vector<Task> tasks;
  for (const compute::Machine& machine : request_.machines)
    tasks.push_back({machine, "", false, false, false});
  for (Task& task : tasks) begin(task, jobs);
  io::SystemClock clock;
  const Instant begun = clock.now();
  const auto is_done = [](const Task& task) { return task.is_done; };
  for (bool is_first = true; !std::all_of(tasks.begin(), tasks.end(), is_done); is_first = false) {
    if (!is_first) std::this_thread::sleep_for(kPollInterval);
    const auto now = list_jobs(request_, "start");
    if (!now) {
      for (Task& task : tasks)
        if (!task.is_done) fail(task, now.error());
      break;
    }
    const Duration waited = clock.now() - begun;
    for (Task& task : tasks) {
      if (task.is_done) continue;
      const Job* job = job_of(*now, task.machine.name, task.job);
      // a job that waited before this call continues to wait
      const bool waits = job != nullptr && job->state == Job::State::pending;
      const Duration limit = !waits ? kJoinTimeout : task.is_new ? kMostQueued : Duration();
      look_at(task, *now, waited >= limit);
    }
  }
  return failures_;
}

// Begins a task. A waiting job reads the newest token when it starts.
void Creation::begin(Task& task, const Jobs& jobs) {
  const auto found = jobs.find(task.machine.name);
  const bool lives = found != jobs.end() && found->second.state != Job::State::ended;
  if (lives) {
    task.job = found->second.id;
    if (task.machine.token.empty()) return;
    // An agent that has joined reads the launcher's present address in this file.
    task.had_joined = place_.has_joined(task.machine.name, task.job);
    const auto put = place_.put_token(task.machine);
    if (!put) fail(task, {"submit", Failure::failed, put.error().message});
    return;
  }
  events_.step(task.machine.name, "submit");
  if (auto submitted = submit_for(task); !submitted) fail(task, submitted.error());
}

Attempt<void> Creation::submit_for(Task& task) {
  const std::string& name = task.machine.name;
  const auto no = [](Failure code, std::string why) {
    return tl::unexpected(Failed{"submit", code, std::move(why)});
  };
  if (task.machine.token.empty())
    return no(Failure::failed, "the request has no token for this machine");
  if (const auto put = place_.put_token(task.machine); !put)
    return no(Failure::failed, put.error().message);
  const NodeJob node{node_name(name), request_.launcher + "-" + request_.target,
                     place_.directory() + "/" + bundle_, place_.token(name)};
  auto id =
      submit(sbatch_words(request_, settings_, name, place_.log(name, "%j")), job_script(node));
  if (!id) return tl::unexpected(id.error());
  task.job = *id;
  task.is_new = true;
  return {};
}

void Creation::look_at(Task& task, const Jobs& jobs, bool is_last_look) {
  const std::string& name = task.machine.name;
  const Job* job = job_of(jobs, name, task.job);
  const bool runs = job != nullptr && job->state == Job::State::running;
  if (runs && place_.has_joined(name, task.job)) {
    if (!task.had_joined) (void)io::disk::unlink(place_.token(name).c_str());
    tell(name, job, events_);
    task.is_done = true;
  } else if (job == nullptr || job->state == Job::State::ended) {
    const std::string words = place_.last_words(name, task.job);
    fail(task, {"start", words.empty() ? Failure::failed : Failure::launcher_unreachable,
                words.empty() ? fmt::format("Slurm's job {} ended: {}", task.job,
                                            job == nullptr ? "it is gone" : job->reason)
                              : "its agent has not joined the launcher: " + words});
  } else if (is_last_look && !runs) {
    tell(name, job, events_);
    task.is_done = true;
  } else if (is_last_look) {
    const std::string words = place_.last_words(name, task.job);
    (void)cancel(task.job);
    fail(task, {"start", Failure::timed_out,
                fmt::format("the agent of Slurm's job {} on {} has not joined within {}: {}",
                            task.job, job->node, format_duration(kJoinTimeout), words)});
  }
}

void Creation::fail(Task& task, Failed why) {
  why.message = task.machine.name + ": " + why.message;
  events_.error(task.machine.name, why);
  task.is_done = true;
  ++failures_;
}

}  // namespace lockstep::compute::slurm
