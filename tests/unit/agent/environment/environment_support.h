#pragma once
// Tests of a node's environments in a temporary directory, with the real lockstep-env, python3 and
// pip. Packages are wheels that the test writes, so that no network is needed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "agent/environment/environments.h"
#include "common/io/programs/process_table.h"
#include "common/io/programs/run_program.h"
#include "common/wire/runners/runner_codec.h"
#include "tests/unit/agent/helpers.h"
#include "tests/unit/support/open_program.h"
#include "tests/unit/support/silent_server.h"

namespace lockstep::agent {

// A fake of the launcher's blob store for locks.
struct FakeLocks {
  std::mutex mutex;
  std::map<Digest, std::string> texts;
  std::map<Digest, std::string> folders;  // whole trees, by digest of the lock
  std::string kept;                       // where to keep whole trees; "": they are not kept
  int written_out = 0;
  int fetches = 0;
  bool is_away = false;
  LockFunctions functions() {
    LockFunctions all;
    all.fetch = [this](const Digest& tree) -> Result<std::string> {
      const std::lock_guard guard(mutex);
      ++fetches;
      if (is_away) return make_error(ErrorCode::unavailable, "the launcher is away");
      const auto found = texts.find(tree);
      if (found == texts.end()) return make_error(ErrorCode::not_found, "no such tree");
      return found->second;
    };
    all.store = [this](const std::string& folder) -> Result<Digest> {
      const std::lock_guard guard(mutex);
      if (is_away) return make_error(ErrorCode::unavailable, "the launcher is away");
      TRY_ASSIGN(const std::string text, io::read_file(folder + "/" + std::string(kLockFile)));
      texts[sha256(text)] = text;
      if (!kept.empty()) TRY(copy(folder, folders[sha256(text)] = kept + "/" + sha256(text).hex()));
      return sha256(text);
    };
    all.write_out = [this](const Digest& tree, const std::string& folder,
                           const LockFunctions::OnProgress&) -> Status {
      const std::lock_guard guard(mutex);
      if (is_away) return make_error(ErrorCode::unavailable, "the launcher is away");
      const auto found = folders.find(tree);
      if (found == folders.end()) return make_error(ErrorCode::not_found, "no such tree");
      ++written_out;
      return copy(found->second, folder);
    };
    return all;
  }

 private:
  static Status copy(const std::string& from, const std::string& to) {
    TRY_ASSIGN(const auto copied, io::run_program({"cp", "-a", from, to}, seconds(60)));
    if (copied.exit_code == 0) return {};
    return make_error(ErrorCode::io, copied.errors);
  }
};

// One agent's Environments with an event loop, and a record of their reports for each attempt.
class Keeping {
 public:
  explicit Keeping(const std::string& home, FakeLocks& locks, Bytes limit = {},
                   const std::string& program = test::open_program(LOCKSTEP_ENV),
                   const std::string& spawn = "")
      : home(home), locks_(locks) {
    config_.program = program;
    config_.spawn = spawn;
    config_.limit = limit;
    config_.locks = locks_.functions();
    start();
  }
  void start(std::optional<Bytes> limit = {}) {
    if (limit) config_.limit = *limit;
    environments.emplace(loop, home, config_, [this](Input input) { hear(std::move(input)); });
  }
  void stop() { environments.reset(); }
  void share(const std::string& packages) {
    stop();
    config_.packages = packages;
    start();
  }

  struct Said {
    std::vector<EnvironmentReport> reports;
    std::vector<std::string> progress;
    std::optional<EnvironmentFailed> failed;
    std::uint64_t log_bytes = 0;
    bool is_ready() const {
      return !reports.empty() && reports.back().step == EnvironmentReport::Step::ready;
    }
    bool is_over() const { return failed || is_ready(); }
  };
  std::map<AttemptId, Said> said;

  // An assignment whose directories are as staging leaves them.
  Assignment staged(const std::string& job, const EnvironmentDefinition& definition) {
    Assignment assignment = make_assignment(job, "");
    assignment.spec.environment = EnvironmentSpec{"", "", definition};
    const io::AttemptDir directory = home.attempt(assignment.attempt);
    EXPECT_TRUE(io::make_directories(directory.logs()));
    EXPECT_TRUE(io::write_file_atomically(directory.workspace(), wire::encode(WorkspacePlan{}),
                                          0600, false));
    return assignment;
  }
  bool until(const std::function<bool()>& condition, Duration limit = seconds(120)) {
    return turn_until([this] { loop.turn(milliseconds(20)); }, condition, limit);
  }
  // Solves and then builds, in the order that the launcher requests.
  const Said& prepare(Assignment assignment) {
    Said& of = said[assignment.attempt] = {};
    assignment.environment.solve = true;
    environments->prepare(assignment);
    using Step = EnvironmentReport::Step;
    const auto is_solved = [&] {
      return !of.reports.empty() && of.reports.back().step == Step::solved;
    };
    EXPECT_TRUE(until([&] { return of.is_over() || is_solved(); })) << log_of(assignment);
    if (!is_solved()) return of;
    return build(assignment, of.reports.back());
  }
  const Said& build(const Assignment& assignment, const EnvironmentReport& solved) {
    Said& of = said[assignment.attempt];
    environments->prepare(locked(assignment, solved));
    EXPECT_TRUE(until([&] { return of.is_over(); })) << log_of(assignment);
    return of;
  }
  // Only solves; returns after the first report or the failure.
  const Said& solve(Assignment assignment) {
    Said& of = said[assignment.attempt] = {};
    assignment.environment.solve = true;
    environments->prepare(assignment);
    EXPECT_TRUE(until([&] { return of.failed || !of.reports.empty(); })) << log_of(assignment);
    return of;
  }
  static Assignment locked(Assignment assignment, const EnvironmentReport& solved) {
    assignment.environment.solve = false;
    assignment.environment.locks = {{solved.platform, *solved.lock}};
    return assignment;
  }
  std::string log_of(const Assignment& assignment) const {
    const auto path =
        home.attempt(assignment.attempt).log(assignment.node_rank, LogStream::environment);
    return io::read_file(path).value_or("");
  }
  Activation activation_of(const Assignment& assignment) const {
    const auto bytes = io::read_file(home.attempt(assignment.attempt).workspace());
    const auto plan = wire::decode_workspace_plan(bytes.value_or(""));
    EXPECT_TRUE(plan && plan->activation);
    return plan && plan->activation ? *plan->activation : Activation();
  }
  // The lockstep-env processes that descend from this process.
  static std::vector<io::ProcessIdentity> programs() {
    std::vector<io::ProcessIdentity> found;
    for (const auto& process : io::descendants_of(::getpid())) {
      const auto name = io::read_file("/proc/" + std::to_string(process.pid) + "/comm");
      if (name && *name == "lockstep-env\n") found.push_back(process);
    }
    return found;
  }
  std::vector<std::string> built() const {
    std::vector<std::string> names;
    const std::string folder = home.environments() + "/" + std::to_string(::geteuid());
    for (const std::string& name : io::list_directory(folder).value_or(std::vector<std::string>()))
      if (io::exists(folder + "/" + name + "/activation.json")) names.push_back(name);
    return names;
  }

  const AgentHome home;
  io::EventLoop loop;
  std::optional<Environments> environments;

 private:
  void hear(Input input) {
    if (auto* progress = std::get_if<EnvironmentProgress>(&input))
      said[progress->attempt].progress.push_back(progress->text);
    if (auto* changed = std::get_if<EnvironmentChanged>(&input)) {
      said[changed->attempt].reports.push_back(changed->report);
      said[changed->attempt].log_bytes = changed->log_bytes;
    }
    if (auto* failed = std::get_if<EnvironmentFailed>(&input))
      said[failed->attempt].failed = *failed;
  }
  FakeLocks& locks_;
  EnvironmentConfig config_;
};

class EnvironmentTest : public testing::Test {
 protected:
  void SetUp() override {
    dir.folder("wheels");
    ::setenv("PIP_RETRIES", "1", 1);
  }
  // A wheel with one module, VERSION = version.
  void wheel(const std::string& name, const std::string& version) {
    const std::string script =
        "import sys, zipfile\n"
        "name, version, folder = sys.argv[1:]\n"
        "info = f'{name}-{version}.dist-info'\n"
        "with zipfile.ZipFile(f'{folder}/{name}-{version}-py3-none-any.whl', 'w') as wheel:\n"
        "    wheel.writestr(f'{name}.py', f'VERSION = {version!r}\\n')\n"
        "    wheel.writestr(f'{info}/METADATA', f'Metadata-Version: 2.1\\nName: {name}\\nVersion: "
        "{version}\\n')\n"
        "    wheel.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: "
        "true\\nTag: py3-none-any\\n')\n"
        "    wheel.writestr(f'{info}/RECORD', '')\n";
    const auto made = io::run_program(
        {"/usr/bin/python3", "-c", script, name, version, dir / "wheels"}, seconds(30));
    ASSERT_TRUE(made && made->exit_code == 0) << (made ? made->errors : made.error().message);
  }
  VenvEnvironment asks_for(std::vector<std::string> requirements) {
    return {"/usr/bin/python3",
            {"--no-index", "--find-links " + (dir / "wheels")},
            std::move(requirements),
            {}};
  }
  // The report that solving would give; its lock is put into the launcher's store.
  EnvironmentReport lock_of(const std::string& name, const std::string& version) {
    const std::string path = dir / "wheels/" + name + "-" + version + "-py3-none-any.whl";
    const auto python = io::run_program(
        {"/usr/bin/python3", "-c", "import platform; print(platform.python_version())"},
        seconds(30));
    envs::Lock lock{"venv", envs::platform_of(python->text), "test", {}, {}};
    lock.packages.push_back(
        {name, version, {sha256(*io::read_file(path)).hex()}, "file://" + path, 0});
    EnvironmentReport solved;
    solved.platform = lock.platform;
    solved.lock = sha256(envs::to_json(lock));
    locks.texts[*solved.lock] = envs::to_json(lock);
    return solved;
  }
  // An environment whose solving waits for an index that never answers.
  VenvEnvironment never() const {
    return {"/usr/bin/python3", {"--index-url " + silent_.url()}, {"six"}, {}};
  }
  static std::string version_in(const Activation& activation, const std::string& module) {
    const auto said = io::run_program(
        {activation.interpreter, "-c", "import " + module + "; print(" + module + ".VERSION)"},
        seconds(30));
    return said ? said->text + said->errors : said.error().message;
  }
  TempDir dir;
  FakeLocks locks;

 private:
  test::SilentServer silent_;
};

}  // namespace lockstep::agent
