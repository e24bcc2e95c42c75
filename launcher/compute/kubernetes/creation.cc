#include "launcher/compute/kubernetes/creation.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "common/io/clock.h"
#include "launcher/compute/kubernetes/manifest.h"

namespace lockstep::compute::kubernetes {
namespace {

// How long to wait for a pod that is on no node yet.
constexpr Duration kMostUnscheduled = seconds(8);
// How long to wait for a pod on a node: images may be large.
constexpr Duration kStartTimeout = minutes(12);
constexpr Duration kGoneTimeout = seconds(kGraceSeconds + 60);
constexpr int kNotFound = 127;  // exit code of a shell, or of our script, for a missing program

// The pause between looks; short at first, since most pods start quickly.
Duration between_looks(Duration waited) {
  return waited < seconds(20) ? milliseconds(400) : seconds(2);
}

const Pod* pod_of(const Pods& pods, const std::string& machine) {
  const auto found = pods.find(machine);
  return found == pods.end() ? nullptr : &found->second;
}

std::vector<std::string> names_of(const auto& tasks) {
  std::vector<std::string> names;
  for (const auto* task : tasks) names.push_back(task->machine.name);
  return names;
}

Failed why_ended(const Pod& pod) {
  if (pod.exit_code == kNotFound)
    return {"start", Failure::unsupported,
            fmt::format("pod {} found no agent, or no shell, in its image: {}", pod.name,
                        pod.last_words)};
  if (!pod.last_words.empty())
    return {"start", Failure::launcher_unreachable,
            "its agent has not joined the launcher: " + pod.last_words};
  return {"start", Failure::failed,
          fmt::format("pod {} ended before its agent joined: {}", pod.name, pod.reason)};
}

}  // namespace

Attempt<void> wait_until_gone(const Objects& objects, const std::vector<std::string>& machines) {
  io::SystemClock clock;
  const Instant end = clock.now() + kGoneTimeout;
  for (;;) {
    const auto pods = objects.list("remove");
    if (!pods) return tl::unexpected(pods.error());
    const auto still = std::find_if(machines.begin(), machines.end(), [&](const std::string& name) {
      return pods->count(name) != 0;
    });
    if (still == machines.end()) return {};
    if (clock.now() >= end) {
      const Pod& pod = pods->at(*still);
      return tl::unexpected(
          Failed{"remove", Failure::timed_out,
                 fmt::format("pod {} is still being deleted after {}; its node {} may not answer",
                             pod.name, format_duration(kGoneTimeout), pod.node)});
    }
    std::this_thread::sleep_for(milliseconds(300));
  }
}

int Creation::run(const Pods& pods) {
  std::vector<Task> tasks;
  for (const compute::Machine& machine : request_.machines)
    tasks.push_back({machine, false, false, false});
  Tasks open;
  for (Task& task : tasks) open.push_back(&task);
  make_all(open, pods);
  // A pod that waited may have started with the token of the call before, which is no longer valid;
  // so another pod gets the new token.
  std::erase_if(open, [](const Task* task) { return !task->is_failed; });
  settle();
  if (open.empty()) return failures_;
  for (Task* task : open) task->is_failed = task->is_done = false;
  if (const auto now = objects_.list("start"))
    make_all(open, *now);
  else
    fail_all(open, now.error());
  settle();
  return failures_;
}

void Creation::make_all(const Tasks& tasks, Pods pods) {
  Tasks old, missing, waiting;
  for (Task* task : tasks) {
    const Pod* pod = pod_of(pods, task->machine.name);
    const bool has_token = !task->machine.token.empty();
    if (pod != nullptr && pod->state == Pod::State::joined) {
      look_at(*task, pod, {});
    } else if (pod != nullptr && !has_token &&
               (pod->state == Pod::State::waiting || pod->state == Pod::State::starting)) {
      waiting.push_back(task);
    } else if (!has_token) {
      fail(*task, {"create", Failure::failed, "the request has no token for this machine"});
    } else if (pod != nullptr && pod->state == Pod::State::waiting) {
      waiting.push_back(task);
    } else {
      // a pod that has started has read the token of an earlier call
      if (pod != nullptr) old.push_back(task);
      missing.push_back(task);
    }
  }
  for (const Task* task : missing) events_.step(task->machine.name, "create");
  if (!old.empty() && !clear_the_way(old))
    std::erase_if(missing, [](const Task* task) { return task->is_done; });
  // Secrets are written before the pods, which could otherwise read an earlier call's token.
  Tasks given = missing;
  given.insert(given.end(), waiting.begin(), waiting.end());
  std::erase_if(given, [](const Task* task) { return task->machine.token.empty(); });
  if (const auto gone = objects_.delete_tokens(names_of(given)); !gone)
    return fail_all(given, gone.error());
  make_pods(missing);
  missing.insert(missing.end(), waiting.begin(), waiting.end());
  std::erase_if(missing, [](const Task* task) { return task->is_done; });
  put_tokens(missing);
  wait_for(missing);
}

// Removes the remains of earlier calls. False: it failed for some machines, and that was reported.
bool Creation::clear_the_way(const Tasks& old) {
  auto done = objects_.delete_pods(names_of(old));
  if (done) done = wait_until_gone(objects_, names_of(old));
  if (!done) fail_all(old, done.error());
  return done.has_value();
}

void Creation::make_pods(const Tasks& missing) {
  const auto failures = objects_.create_pods(names_of(missing));
  for (Task* task : missing) {
    task->is_new = true;
    const auto failed = failures.find(task->machine.name);
    if (failed != failures.end()) fail(*task, failed->second);
  }
}

void Creation::put_tokens(const Tasks& tasks) {
  Tasks wanted = tasks;
  std::erase_if(wanted, [](const Task* task) { return task->machine.token.empty(); });
  if (wanted.empty()) return;
  const auto pods = objects_.list("create");
  if (!pods) return fail_all(wanted, pods.error());
  std::vector<compute::Machine> machines;
  for (Task* task : wanted) {
    if (pods->count(task->machine.name) != 0)
      machines.push_back(task->machine);
    else
      fail(*task, {"create", Failure::failed, "its pod was deleted by somebody else"});
  }
  const auto failures = objects_.put_tokens(machines, *pods);
  for (Task* task : wanted) {
    const auto failed = failures.find(task->machine.name);
    if (failed == failures.end() || task->is_done) continue;
    useless_.push_back(task->machine.name);
    fail(*task, failed->second);
  }
}

void Creation::wait_for(const Tasks& tasks) {
  io::SystemClock clock;
  const Instant begun = clock.now();
  const auto is_done = [](const Task* task) { return task->is_done; };
  while (!std::all_of(tasks.begin(), tasks.end(), is_done)) {
    const auto pods = objects_.list("start");
    const Duration waited = clock.now() - begun;
    if (!pods) {
      Tasks open = tasks;
      std::erase_if(open, is_done);
      return fail_all(open, pods.error());
    }
    for (Task* task : tasks)
      if (!task->is_done) look_at(*task, pod_of(*pods, task->machine.name), waited);
    settle();
    if (!std::all_of(tasks.begin(), tasks.end(), is_done))
      std::this_thread::sleep_for(between_looks(waited));
  }
}

void Creation::look_at(Task& task, const Pod* pod, Duration waited) {
  const std::string& name = task.machine.name;
  const auto give_up = [&](Failed why) {
    useless_.push_back(name);
    fail(task, std::move(why));
  };
  if (pod == nullptr || pod->state == Pod::State::leaving)
    return fail(task, {"start", Failure::failed,
                       fmt::format("its pod was taken away before its agent joined: {}",
                                   pod == nullptr ? "deleted" : pod->reason)});
  if (pod->state == Pod::State::joined) {
    joined_.push_back(name);
    task.is_done = true;
    return tell(name, pod, objects_.settings(), events_);
  }
  if (pod->is_stuck)
    return give_up({"start", Failure::unsupported,
                    fmt::format("pod {} cannot start: {}", pod->name, pod->reason)});
  if (pod->state == Pod::State::ended && !task.is_new) {
    task.is_failed = task.is_done = true;
  } else if (pod->state == Pod::State::ended) {
    give_up(why_ended(*pod));
  } else if (pod->state == Pod::State::waiting &&
             waited >= (task.is_new ? kMostUnscheduled : Duration())) {
    task.is_done = true;
    tell(name, pod, objects_.settings(), events_);
  } else if (waited >= kStartTimeout) {
    give_up({"start", Failure::timed_out,
             fmt::format("the agent of pod {} on node {} has not joined within {}: {}", pod->name,
                         pod->node, format_duration(kStartTimeout), pod->reason)});
  }
}

// Deletes the pods of failed machines, and Secrets that are no longer needed. If that fails, they
// are deleted together with the machine.
void Creation::settle() {
  if (joined_.empty() && useless_.empty()) return;
  (void)objects_.delete_pods(useless_);
  joined_.insert(joined_.end(), useless_.begin(), useless_.end());
  (void)objects_.delete_tokens(joined_);
  joined_.clear();
  useless_.clear();
}

void Creation::fail(Task& task, Failed why) {
  why.message = task.machine.name + ": " + why.message;
  events_.error(task.machine.name, why);
  task.is_done = true;
  ++failures_;
}

void Creation::fail_all(const Tasks& tasks, const Failed& why) {
  for (Task* task : tasks) fail(*task, why);
}

}  // namespace lockstep::compute::kubernetes
