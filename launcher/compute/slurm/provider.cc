#include "launcher/compute/slurm/provider.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "launcher/compute/at_once.h"
#include "launcher/compute/bundle.h"
#include "launcher/compute/slurm/creation.h"
#include "launcher/compute/slurm/job_script.h"

namespace lockstep::compute::slurm {
namespace {

constexpr Duration kEndTimeout = seconds(90);  // Slurm waits KillWait (30 s) before SIGKILL
constexpr Duration kReasonTimeout = seconds(10);
constexpr Duration kBetweenLooks = milliseconds(250);

int fail_all(const Request& request, const Failed& why, Events& events) {
  for (const compute::Machine& machine : request.machines) events.error(machine.name, why);
  if (request.machines.empty()) events.error(request.target, why);
  return std::max(1, static_cast<int>(request.machines.size()));
}

// Whether machines end now. A completing job does not report yet why it ended.
bool ends_now(const Request& request, const Jobs& jobs) {
  return std::any_of(request.machines.begin(), request.machines.end(),
                     [&](const compute::Machine& asked) {
                       const auto found = jobs.find(asked.name);
                       return found != jobs.end() && found->second.word == "COMPLETING";
                     });
}

int list(const Request& request, Jobs jobs, Events& events) {
  io::SystemClock clock;
  const Instant end = clock.now() + kReasonTimeout;
  while (ends_now(request, jobs) && clock.now() < end) {
    std::this_thread::sleep_for(kBetweenLooks);
    auto now = list_jobs(request, "connect");
    if (!now) return fail_all(request, now.error(), events);
    jobs = *std::move(now);
  }
  for (const auto& [machine, job] : jobs) {
    const bool is_asked =
        std::any_of(request.machines.begin(), request.machines.end(),
                    [name = machine](const compute::Machine& asked) { return asked.name == name; });
    // If a machine that was asked for has ended, its reason is reported. Others that ended are left
    // out.
    if (is_asked || job.state != Job::State::ended) tell(machine, &job, events);
  }
  for (const compute::Machine& machine : request.machines)
    if (jobs.count(machine.name) == 0) tell(machine.name, nullptr, events);
  return 0;
}

std::string own_account() {
  const auto user = io::current_user();
  return user ? user->name : std::to_string(::geteuid());
}

// The first accounts of other users. Slurm runs the agent as the submitting user, and only root can
// run ranks as other users.
std::string accounts_of_others(const Request& request) {
  constexpr int kShown = 5;
  if (::geteuid() == 0) return "";
  std::string names;
  int count = 0;
  for (const std::string& account : request.accounts) {
    if (account == own_account() || account == "root") continue;
    if (++count <= kShown) names += (names.empty() ? "" : ", ") + account;
  }
  return count > kShown ? fmt::format("{} and {} more", names, count - kShown) : names;
}

int check(const Request& request, const Settings& settings, const Jobs& jobs, Events& events) {
  for (const compute::Machine& machine : request.machines) events.step(machine.name, "check");
  if (::access(settings.directory.c_str(), W_OK | X_OK) != 0)
    return fail_all(request,
                    {"check", Failure::no_permission,
                     settings.directory +
                         " is not a directory that the launcher's account can write to; make it "
                         "on a file system that the nodes share"},
                    events);
  if (const std::string others = accounts_of_others(request); !others.empty())
    return fail_all(
        request,
        {"check", Failure::no_permission,
         "the launcher runs as " + own_account() +
             ", so nodes of Slurm would run all jobs as that account, but users of this launcher "
             "have others (" +
             others +
             "). Run lockstepd as root, so that jobs run as their users; or use this target alone, "
             "with a launcher of your own"},
        events);
  const std::string script = job_script({"check", "check", "/", "/"});
  if (const auto good = would_take(sbatch_words(request, settings, "check", "/dev/null"), script);
      !good)
    return fail_all(request, good.error(), events);
  return list(request, jobs, events);
}

int create(const Request& request, const Settings& settings, const Jobs& jobs, Events& events) {
  const Place place(request, settings);
  const auto digest = bundle_digest(request.bundle);
  Status ready = digest ? place.prepare(request.bundle, *digest) : Status(digest.error());
  if (!ready) {
    const ErrorCode code = ready.error().code;
    return fail_all(request,
                    {"copy",
                     code == ErrorCode::conflict             ? Failure::conflict
                     : code == ErrorCode::resource_exhausted ? Failure::no_space
                     : code == ErrorCode::permission_denied  ? Failure::no_permission
                                                             : Failure::failed,
                     ready.error().message},
                    events);
  }
  return Creation(request, settings, place, bundle_folder(*digest), events).run(jobs);
}

bool is_alive(const Jobs& jobs, const std::string& machine) {
  const auto found = jobs.find(machine);
  return found != jobs.end() && found->second.state != Job::State::ended;
}

Attempt<void> cancel_all(const Request& request, const Jobs& jobs) {
  for (const compute::Machine& machine : request.machines) {
    if (!is_alive(jobs, machine.name)) continue;
    if (auto done = cancel(jobs.at(machine.name).id); !done) return done;
  }
  return {};
}

// Cancels all jobs before it waits for the first.
int remove(const Request& request, const Settings& settings, Jobs jobs, Events& events) {
  for (const compute::Machine& machine : request.machines) events.step(machine.name, "remove");
  if (const auto done = cancel_all(request, jobs); !done)
    return fail_all(request, done.error(), events);
  const auto any_lives = [&] {
    return std::any_of(request.machines.begin(), request.machines.end(),
                       [&](const compute::Machine& one) { return is_alive(jobs, one.name); });
  };
  io::SystemClock clock;
  const Instant end = clock.now() + kEndTimeout;
  while (any_lives() && clock.now() < end) {
    std::this_thread::sleep_for(kBetweenLooks);
    auto now = list_jobs(request, "remove");
    if (!now) return fail_all(request, now.error(), events);
    jobs = *std::move(now);
  }
  const Place place(request, settings);
  int failures = 0;
  for (const compute::Machine& machine : request.machines) {
    const Status gone =
        is_alive(jobs, machine.name)
            ? make_error(ErrorCode::deadline_exceeded,
                         fmt::format("Slurm has not ended job {} within {}",
                                     jobs.at(machine.name).id, format_duration(kEndTimeout)))
            : place.remove(machine.name);
    if (gone) {
      events.machine(machine.name, "absent", {});
      continue;
    }
    ++failures;
    events.error(machine.name,
                 {"remove",
                  gone.error().code == ErrorCode::conflict            ? Failure::conflict
                  : gone.error().code == ErrorCode::deadline_exceeded ? Failure::timed_out
                                                                      : Failure::failed,
                  machine.name + ": " + gone.error().message});
  }
  return failures;
}

}  // namespace

Result<int> carry_out(Verb verb, const Request& request, Events& events) {
  if (verb == Verb::hold)
    return make_error(
        ErrorCode::invalid_argument,
        "kind slurm does not have the verb 'hold': nothing has to be kept up for its machines");
  // Wrong settings must not keep machines from being removed.
  const bool needs_all = verb == Verb::check || verb == Verb::create;
  TRY_ASSIGN(const Settings settings,
             needs_all ? settings_from(request.settings) : place_from(request.settings));
  if (verb == Verb::create && request.bundle.empty())
    return make_error(
        ErrorCode::invalid_argument,
        "the request has no 'bundle' (the archive with the agent); make one with scripts/bundle");
  TRY(io::make_directories(request.state, 0700));
  auto jobs = list_jobs(request, "connect");
  if (!jobs) return fail_all(request, jobs.error(), events);
  switch (verb) {
    case Verb::check: return check(request, settings, *jobs, events);
    case Verb::create: return create(request, settings, *jobs, events);
    case Verb::list: return list(request, *std::move(jobs), events);
    case Verb::remove: return remove(request, settings, *std::move(jobs), events);
    case Verb::hold: break;
  }
  return 0;
}

}  // namespace lockstep::compute::slurm
