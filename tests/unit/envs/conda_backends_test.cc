// LOCKSTEP_CONDA_ENGINE: another program than py-rattler. What is asked of it, and what is made of
// its answers, is tested with a small program that speaks as micromamba does.

#include "tests/unit/envs/conda_fixture.h"

namespace lockstep::envs {
namespace {

using testing::HasSubstr;

constexpr const char* kChannel = R"([
  {"name": "alpha", "version": "1.0", "format": ".tar.bz2", "depends": ["beta"],
   "activate": "export ALPHA_HOME=$CONDA_PREFIX/alpha\n"},
  {"name": "beta", "version": "1.0", "format": ".tar.bz2", "noarch": "generic",
   "files": {"share/beta": "1.0\n"}}])";

constexpr const char* kProgram = R"(#!/usr/bin/python3
import glob, hashlib, json, os, shutil, sys, tarfile
words = sys.argv[1:]
def after(option):
    return [words[i + 1] for i, word in enumerate(words) if word == option]
def records():
    for channel in after("-c"):
        for path in glob.glob(channel[7:] + "/*/repodata.json"):
            for name, record in json.load(open(path))["packages"].items():
                yield {**record, "fn": name, "url": "file://" + os.path.dirname(path) + "/" + name}
if words == ["--version"]:
    print("2.0.5")
elif words[0] == "create":
    known, link = {record["name"]: record for record in records()}, {}
    asked = words[words.index("--override-channels") + 1:]
    asked = [word for i, word in enumerate(asked) if word != "-c" and asked[i - 1] != "-c"]
    while asked:
        name = asked.pop()
        if name not in known:
            print(json.dumps({"success": False, "solver_problems": ["nothing provides " + name]}))
            sys.exit(1)
        link[name] = known[name]
        asked += known[name]["depends"]
    print("glibc", os.environ["CONDA_OVERRIDE_GLIBC"], file=sys.stderr)
    print(json.dumps({"success": True, "actions": {"FETCH": [], "LINK": list(link.values())}}))
elif words[0] == "install":
    prefix, packages = after("-p")[0], os.environ["CONDA_PKGS_DIRS"]
    assert os.path.exists(prefix + "/conda-meta/history")
    for line in open(after("--file")[0]).read().split()[1:]:
        url, _, md5 = line.partition("#")
        archive = packages + "/" + os.path.basename(url)
        if "--offline" not in words:
            shutil.copy(url[7:], archive)
        assert md5 in ("", hashlib.md5(open(archive, "rb").read()).hexdigest())
        with tarfile.open(archive) as tar:
            tar.extractall(prefix)
        record = {**json.load(open(prefix + "/info/index.json")), "url": url, "files": []}
        name = os.path.basename(url)[:-len(".tar.bz2")]
        json.dump(record, open(prefix + "/conda-meta/" + name + ".json", "w"))
)";

class CondaBackends : public CondaTest {
 protected:
  void use_program(const std::string& name) {
    dir.file("bin/" + name, kProgram, 0755);
    more = {{"LOCKSTEP_CONDA_ENGINE", name}, {"PATH", (dir / "bin") + ":/usr/bin:/bin"}};
  }
};

TEST_F(CondaBackends, ThatAreNoneOrNotThereAreNamed) {
  more["LOCKSTEP_CONDA_ENGINE"] = "pip";
  expect_failure(solve(asks_for({"alpha"})), ErrorCode::unavailable,
                 "LOCKSTEP_CONDA_ENGINE of the agent is 'pip', but must be rattler, micromamba");
  more = {{"LOCKSTEP_CONDA_ENGINE", "micromamba"}, {"PATH", dir / "bin"}};
  expect_failure(solve(asks_for({"alpha"})), ErrorCode::unavailable,
                 "LOCKSTEP_CONDA_ENGINE of the agent is 'micromamba', but no folder of its PATH");
}

TEST_F(CondaBackends, AProgramSolvesAndInstallsAsRattlerDoes) {
  channel("channel", kChannel);
  const CondaEnvironment asked = asks_for({"alpha"});
  const Told by_rattler = solve(asked);
  ASSERT_EQ(versions(by_rattler), "alpha 1.0, beta 1.0") << by_rattler.log;
  use_program("micromamba");
  const Told solved = solve(asked);
  ASSERT_EQ(versions(solved), "alpha 1.0, beta 1.0") << solved.log;
  const Lock lock = *solved.last().lock;
  EXPECT_EQ(lock.solver, "micromamba 2.0.5");
  EXPECT_THAT(solved.log, HasSubstr("glibc 2.36"));
  for (int i : {0, 1}) {
    const LockedCondaPackage& theirs = by_rattler.last().lock->conda[i];
    EXPECT_EQ(lock.conda[i].url, theirs.url);
    EXPECT_EQ(lock.conda[i].sha256, theirs.sha256);
    EXPECT_EQ(lock.conda[i].size, theirs.size);
  }
  const Told built = build(asked, lock, site("one"));
  ASSERT_TRUE(built.last().activation) << built.all();
  EXPECT_EQ(dir.read("one/share/beta"), "1.0\n");
  EXPECT_EQ(built.last().activation->variables.at("ALPHA_HOME"), dir / "one/alpha");
  // From what it fetched before, without the channel.
  ASSERT_TRUE(io::remove_tree(dir / "channel"));
  const Told again = build(asked, lock, site("two"));
  EXPECT_TRUE(again.last().activation) << again.all();
  expect_failure(solve(asks_for({"gamma"})), ErrorCode::invalid_argument, "nothing provides gamma");
}

TEST_F(CondaBackends, AProgramThatDoesNotSayWhetherItSolvedIsQuoted) {
  channel("channel", kChannel);
  use_program("mamba");
  dir.file("bin/mamba", "#!/bin/sh\necho '{}'\n", 0755);
  expect_failure(solve(asks_for({"alpha"})), ErrorCode::unavailable,
                 "(from LOCKSTEP_CONDA_ENGINE of the agent) did not report whether it could solve "
                 "the environment; it answered: {}");
}

TEST_F(CondaBackends, AProgramThatDoesNotCheckAHashIsChecked) {
  const auto written = channel("channel", kChannel);
  use_program("conda");
  CondaEnvironment asked;
  const std::string url = written[1]["url"];
  asked.locked = {{"", {url + "#md5:" + written[1]["md5"].get<std::string>()}}};
  const Told solved = solve(asked);
  ASSERT_EQ(versions(solved), "beta 1.0") << solved.log;
  Lock lock = *solved.last().lock;
  EXPECT_EQ(lock.conda[0].sha256, written[1]["sha256"]);
  lock.conda[0].sha256 = std::string(64, 'a');
  const Told built = build(asked, lock, site("one"));
  expect_failure(built, ErrorCode::corrupt,
                 "its SHA-256 is " + written[1]["sha256"].get<std::string>());
}

TEST_F(CondaBackends, AProgramThatIsOnPATHSolvesAndInstalls) {
  std::string program;
  for (const char* name : {"conda", "mamba", "micromamba"})
    if (io::run_program({name, "--version"}, seconds(60))) program = name;
  if (program.empty()) GTEST_SKIP() << "no micromamba, mamba or conda on PATH";
  channel("channel", kChannel);
  more = {{"LOCKSTEP_CONDA_ENGINE", program}, {"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  const CondaEnvironment asked = asks_for({"alpha"});
  const Told solved = solve(asked);
  ASSERT_EQ(versions(solved), "alpha 1.0, beta 1.0") << solved.log;
  const Told built = build(asked, *solved.last().lock, site("one"));
  ASSERT_TRUE(built.last().activation) << built.all();
  EXPECT_EQ(dir.read("one/share/beta"), "1.0\n");
}

}  // namespace
}  // namespace lockstep::envs
