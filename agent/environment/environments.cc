#include "agent/environment/environments.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <thread>
#include <utility>
#include <variant>

#include "agent/environment/container_sweep.h"
#include "common/io/cgroups/attempt_cgroups.h"
#include "common/io/clock.h"
#include "envs/env_process.h"

namespace lockstep::agent {
namespace {

constexpr int kBuilders = 4;  // how many solvers and builders run at once
constexpr int kLookers = 8;   // these mostly wait for an interpreter that is asked for its version
constexpr Duration kSweepEvery = seconds(60);
// Tools have five of these seconds to end after SIGTERM
constexpr Duration kBuildsEndWithin = seconds(6);
constexpr Duration kLookEvery = milliseconds(20);

// Whether a result belongs to a plan that was replaced meanwhile.
bool is_obsolete(const Input& input, const BuildSubscriber& subscriber) {
  const auto* changed = std::get_if<EnvironmentChanged>(&input);
  return changed != nullptr && changed->report.step == EnvironmentReport::Step::not_solved &&
         changed->report.generation != subscriber.wanted().environment.generation;
}

bool is_final(const Input& input) {
  const auto* changed = std::get_if<EnvironmentChanged>(&input);
  return std::holds_alternative<EnvironmentFailed>(input) ||
         (changed != nullptr && changed->report.step == EnvironmentReport::Step::ready);
}

// The account that builds an environment. A container engine gives its users full rights on the
// machine, so the agent's user calls it, never the job's. All users share an image that the engine
// only pulls or builds; packages of conda are installed as the job's user.
Result<io::User> user_of(const Assignment& assignment) {
  const auto* docker = std::get_if<DockerEnvironment>(&assignment.spec.environment->definition);
  if (docker != nullptr && !docker->conda) return io::current_user();
  const std::string& name = assignment.spec.run_as;
  return name.empty() ? io::current_user() : io::find_user(name);
}

}  // namespace

Environments::Environments(io::EventLoop& loop, const AgentHome& home, EnvironmentConfig config,
                           Emit emit)
    : loop_(loop),
      home_(home),
      config_(std::move(config)),
      emit_(std::move(emit)),
      environment_(io::own_environment()),
      cache_(home.environments(), config_.packages),
      cache_limit_(cache_, home.attempts(), config_.limit),
      interpreters_(cache_, config_.program, environment_, [this] { return !leaving_; }),
      parts_{cache_,
             config_.program,
             environment_,
             config_.locks,
             home_.path(),
             config_.spawn,
             [this] { return !leaving_; },
             [this](const std::shared_ptr<BuildSubscriber>& subscriber, Input input) {
               tell(subscriber, std::move(input));
             }},
      sweepers_(1),
      builders_(kBuilders),
      lookers_(kLookers) {
  if (io::exists(home_.environments())) builders_.submit([this] { cache_limit_.clean(); });
}

Environments::~Environments() {
  *alive_ = false;
  leaving_ = true;
}

// ---- on the loop's thread

void Environments::prepare(const Assignment& assignment) {
  auto& subscriber = subscribers_[assignment.attempt];
  if (!subscriber)
    subscriber = std::make_shared<BuildSubscriber>(assignment, home_.attempt(assignment.attempt));
  subscriber->want(assignment);
  lookers_.submit([this, subscriber = subscriber] { look(subscriber); });
}

void Environments::leave(const AttemptId& attempt) {
  const auto found = subscribers_.find(attempt);
  if (found == subscribers_.end()) return;
  found->second->leave();
  leave_build(*found->second);
  subscribers_.erase(found);
}

void Environments::tick(Instant now) {
  if (now < sweep_at_) return;
  sweep_at_ = now + kSweepEvery;
  if (!sweeps_.exchange(true))
    sweepers_.submit([this] {
      sweep_containers(cache_, home_);
      cache_limit_.prune_skipped();
      sweeps_ = false;
    });
}

void Environments::prune(Instant unused_since) {
  builders_.submit([this, unused_since] { cache_limit_.prune(unused_since); });
}

void Environments::end_builds() {
  leaving_ = true;
  io::SystemClock clock;
  const Instant end = clock.now() + kBuildsEndWithin;
  while (!cache_.with_cgroups().empty() && clock.now() < end)
    std::this_thread::sleep_for(kLookEvery);
  for (const CacheEntry& entry : cache_.with_cgroups())
    if (const Status ended = io::clean_cgroups(entry.cgroups()); !ended)
      spdlog::warn("{}", ended.error().message);
}

// ---- on worker threads

void Environments::tell(const std::shared_ptr<BuildSubscriber>& subscriber, Input input) {
  loop_.post([this, alive = alive_, subscriber, input = std::move(input)] {
    if (!*alive || subscriber->has_left()) return;
    const auto found = subscribers_.find(subscriber->wanted().attempt);
    if (found == subscribers_.end() || found->second != subscriber ||
        is_obsolete(input, *subscriber))
      return;
    if (is_final(input)) {
      leave_build(*subscriber);
      subscribers_.erase(found);
    }
    emit_(input);
  });
}

Result<EnvironmentTarget> Environments::target_for(
    const std::shared_ptr<BuildSubscriber>& subscriber) {
  const Assignment wanted = subscriber->wanted();
  if (config_.program.empty())
    return make_error(ErrorCode::unsupported,
                      "this agent cannot make environments: it has no lockstep-env");
  if (!wanted.spec.environment)
    return make_error(ErrorCode::internal, "the job names no environment");
  TRY_ASSIGN(const io::User user, user_of(wanted));
  const std::string& name = interpreter_of(wanted.spec.environment->definition);
  TRY_ASSIGN(const Interpreter interpreter,
             interpreters_.ask(
                 name, user,
                 [&] {
                   // On a network file system this may hang; then people see this text.
                   tell(subscriber,
                        EnvironmentProgress{wanted.attempt,
                                            fmt::format("asking {} for its version", name)});
                 },
                 [&] { return !subscriber->has_left(); }));
  return target_of(wanted, interpreter, user);
}

// Looks at an attempt. Several looks at one attempt may run at once; each uses the newest order.
void Environments::look(const std::shared_ptr<BuildSubscriber>& subscriber) {
  const std::lock_guard one(subscriber->looking);
  if (subscriber->has_left() || leaving_) return;
  auto target = target_for(subscriber);
  if (target) return serve(subscriber, *std::move(target));
  if (leaving_) return;
  const Cause cause = is_lasting(target.error()) ? Cause::environment_failed : Cause::start_failed;
  tell_failed(parts_, subscriber, target.error(), cause);
}

void Environments::serve(const std::shared_ptr<BuildSubscriber>& subscriber,
                         EnvironmentTarget target) {
  using What = EnvironmentTarget::What;
  const auto is_of_target = [&](const std::optional<EnvironmentReport>& report) {
    return target.what == What::solve && report && report->generation == target.generation &&
           report->platform == target.platform;
  };
  if (const auto solved = subscriber->solved(); is_of_target(solved))
    return tell_solved(parts_, subscriber, target, *solved->lock);
  if (const auto failed = subscriber->not_solved();
      is_of_target(failed) && subscriber->wanted().environment.others_may_solve)
    return tell_not_solved(parts_, subscriber, *failed);
  if (target.what == What::wait) {
    leave_build(*subscriber);
    return tell_wants_lock(parts_, subscriber, target);
  }
  const bool solves = target.what == What::solve;
  const CacheEntry entry =
      solves ? cache_.solve(target.user, target.key) : cache_.built(target.user, target.key);
  // The entry's user is written before the entry is looked for, so nobody removes it in between.
  // See EnvironmentCache::remove.
  const Status named = io::write_file_atomically(subscriber->directory().environment(),
                                                 entry.name() + "\n", 0600, false);
  if (!named) return tell_failed(parts_, subscriber, named.error(), Cause::start_failed);
  if (const auto built = solves ? std::nullopt : EnvironmentCache::find(entry)) {
    const auto image = look_for_its_image(target, *built);
    if (image && image->is_here) {
      leave_build(*subscriber);
      if (!image->named_now.empty())
        subscriber->say(fmt::format(
            "note: on this node, {} now names another image, {}; this job runs {}, the image of "
            "that name when the environment was solved. To use the new one, submit with --rebuild",
            std::get<DockerEnvironment>(target.definition).image, image->named_now,
            built->activation.container->image));
      return tell_reused(parts_, subscriber, target, *built);
    }
    if (!image) return tell_failed(parts_, subscriber, image.error(), Cause::start_failed);
    subscriber->say(
        "this node's engine no longer has the environment's image: preparing the image again");
  }
  join(subscriber, std::move(target));
}

void Environments::join(const std::shared_ptr<BuildSubscriber>& subscriber,
                        EnvironmentTarget target) {
  const std::string name =
      fmt::format("{} {} {}", target.user.uid, static_cast<int>(target.what), target.key.hex());
  const std::lock_guard guard(mutex_);
  if (subscriber->has_left()) return;
  const auto before = subscriber->build;
  auto& build = builds_[name];
  if (!build || !build->join(subscriber)) {
    build = std::make_shared<Build>(parts_, std::move(target));
    build->join(subscriber);
    builders_.submit([this, name, build = build] {
      build->run();
      {
        const std::lock_guard ended(mutex_);
        const auto found = builds_.find(name);
        if (found != builds_.end() && found->second == build) builds_.erase(found);
      }
      if (!leaving_) cache_limit_.keep();
    });
  }
  subscriber->build = build;
  if (before && before != build) before->leave(*subscriber);
}

void Environments::leave_build(BuildSubscriber& subscriber) {
  const std::lock_guard guard(mutex_);
  if (subscriber.build) subscriber.build->leave(subscriber);
  subscriber.build.reset();
}

}  // namespace lockstep::agent
