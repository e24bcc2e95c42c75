#include "agent/environment/interpreters.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <optional>
#include <utility>

#include "agent/environment/build_cgroup.h"
#include "common/io/clock.h"
#include "envs/env_process.h"

namespace lockstep::agent {
namespace {

constexpr Duration kAnswersWithin = seconds(30);
constexpr std::size_t kMaxKnown = 1'000;  // above this number all are forgotten and asked again

std::int64_t nanoseconds(const timespec& time) {
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

}  // namespace

Interpreters::Interpreters(const EnvironmentCache& cache, std::string program,
                           std::map<std::string, std::string> environment,
                           std::function<bool()> go_on)
    : cache_(cache),
      program_(std::move(program)),
      environment_(std::move(environment)),
      go_on_(std::move(go_on)) {}

Interpreters::Look Interpreters::look_at(const std::string& path) {
  struct stat info {};
  if (path.empty() || ::stat(path.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino, info.st_size, nanoseconds(info.st_mtim),
          nanoseconds(info.st_ctim)};
}

Result<Interpreter> Interpreters::ask(const std::string& name, const io::User& user,
                                      const std::function<void()>& starting,
                                      const std::function<bool()>& is_wanted) {
  if (name.empty()) return Interpreter{};
  const std::string path = envs::find_on_path(environment_, name);
  std::shared_ptr<Known> known;
  {
    const std::lock_guard guard(mutex_);
    if (known_.size() >= kMaxKnown) known_.clear();
    auto& entry = known_[{path.empty() ? name : path, user.uid}];
    if (!entry) entry = std::make_shared<Known>();
    known = entry;
  }
  const std::lock_guard one(known->asking);
  const Look look = look_at(path);
  if (look.inode != 0 && look == known->look) return known->interpreter;
  starting();
  TRY_ASSIGN(known->interpreter, start(name, user, is_wanted));
  known->look = look;
  return known->interpreter;
}

int Interpreters::starts() const {
  const std::lock_guard guard(mutex_);
  return starts_;
}

// Starts it as for a user-managed environment, so that errors read the same.
Result<Interpreter> Interpreters::start(const std::string& name, const io::User& user,
                                        const std::function<bool()>& is_wanted) {
  {
    const std::lock_guard guard(mutex_);
    ++starts_;
  }
  const CacheEntry entry = cache_.scratch(user);
  TRY(cache_.open_for(user));
  TRY_ASSIGN(auto lock, EntryLock::try_acquire(entry.lock_file(), EntryLock::Kind::exclusive));
  if (!lock)
    return make_error(ErrorCode::internal, entry.lock_file() + " is locked by another process");
  TRY(cache_.begin(entry, user));
  io::SystemClock clock;
  const Instant end = clock.now() + kAnswersWithin;
  envs::EnvironmentOrder order{
      program_, user, envs::tool_environment(environment_, user, entry.scratch()), {}};
  order.order.what = envs::Order::What::build;
  order.order.definition = HostEnvironment{name};
  order.order.site.prefix = entry.prefix();
  order.order.site.cache = entry.packages();
  std::optional<BuildCgroup> cgroup(std::in_place, entry, std::nullopt, 1, kDefaultPidsLimit);
  order.cgroup_procs = cgroup->procs_files();
  order.lock = lock->fd();
  order.on_log = [](std::string_view) {};
  order.go_on = [&] { return go_on_() && is_wanted() && clock.now() < end; };
  auto said = envs::run_lockstep_env(order);
  cgroup.reset();  // the cgroup is removed before the file that names it
  EnvironmentCache::remove_scratch(entry);
  if (clock.now() >= end)
    return make_error(ErrorCode::deadline_exceeded,
                      fmt::format("the interpreter '{}' did not report its version within {}", name,
                                  format_duration(kAnswersWithin)));
  if (!said) return said.error();
  if (!said->activation)
    return make_error(ErrorCode::internal,
                      "lockstep-env answered with a lock instead of the interpreter's version");
  return Interpreter{said->activation->interpreter, said->activation->version};
}

}  // namespace lockstep::agent
