#include "launcher/files/environment/conda_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "launcher/files/environment/match_spec.h"
#include "launcher/files/job_file.h"
#include "tests/unit/launcher/files/environment/bad_environments.h"

namespace lockstep::spec {
namespace {

using Texts = std::vector<std::string>;

const std::string kMd5(32, 'a');
const std::string kSha256(64, 'b');

CondaFile read(const std::string& text, const Files& more = {}, Notes* notes = nullptr) {
  Files files = more;
  files["env.yml"] = text;
  Notes unseen;
  auto file = load_conda("env.yml", from(files), notes == nullptr ? unseen : *notes);
  EXPECT_TRUE(file) << file.error().message;
  return file ? *std::move(file) : CondaFile{};
}

CondaEnvironment conda_of(const std::string& text, const Files& files = {}) {
  return read(text, files).environment;
}

class BadConda : public testing::TestWithParam<BadEnvironment> {};

// Under `conda_file`, and as all of an environment.
TEST_P(BadConda, IsRefusedWithItsPlace) {
  const BadEnvironment& bad = GetParam();
  Files files = bad.files;
  files["env.yml"] = bad.text;
  const auto job =
      parse_job("job.yml", "command: x\nenvironment: {conda_file: env.yml}\n", {}, from(files));
  ASSERT_FALSE(job) << "was accepted";
  EXPECT_EQ(job.error().message, bad.message);
  EXPECT_EQ(job.error().code, bad.code);
  Notes notes;
  const auto alone = load_conda_environment("env.yml", from(files), notes);
  ASSERT_FALSE(alone) << "was accepted";
  EXPECT_EQ(alone.error().message, bad.message);
  EXPECT_TRUE(
      parse_job("job.yml", "command: x\nenvironment: {conda_file: {dependencies: [python]}}\n"));
}

INSTANTIATE_TEST_SUITE_P(Each, BadConda, testing::ValuesIn(bad_conda_files()),
                         [](const auto& info) { return std::string(info.param.name); });

// ---- environment.yml
// -----------------------------------------------------------------------------

TEST(CondaFile, EveryKeyIsRead) {
  const CondaFile file = read(
      "\xef\xbb\xbfname: tools\r\nchannels:\r\n  - pytorch\r\n  - conda-forge\r\n  - nodefaults\r\n"
      "channel_priority: disabled\r\nplatforms: [osx-64, linux-64]\r\ndependencies:\r\n"
      "  - python=3.11  # ours\r\n  - conda-forge::zlib[version='>=1.2',build=h*]\r\n"
      "  - pip\r\n  - pip:\r\n    - --index-url https://a\r\n    - six==1.16.0\r\n    - -r "
      "r.txt\r\n"
      "    - -c c.txt\r\n"
      "variables:\r\n  OMP_NUM_THREADS: 4\r\n  GREETING: 'a b'\r\n  EMPTY: ''\r\n",
      {{"r.txt", "numpy\n"}, {"c.txt", "numpy<2\n"}});
  EXPECT_EQ(file.name, "tools");
  CondaEnvironment want;
  want.channels = {"pytorch", "conda-forge"};
  want.strict_priority = false;
  want.dependencies = {"python=3.11", "conda-forge::zlib[version='>=1.2',build=h*]", "pip"};
  want.options = {"--index-url https://a"};
  want.requirements = {"six==1.16.0", "numpy"};
  want.constraints = {"numpy<2"};
  want.variables = {{"OMP_NUM_THREADS", "4"}, {"GREETING", "a b"}, {"EMPTY", ""}};
  EXPECT_EQ(file.environment, want);
}

TEST(CondaFile, DefaultsAreWhatCondaTakesThemFor) {
  const Texts defaults{"https://repo.anaconda.com/pkgs/main", "https://repo.anaconda.com/pkgs/r"};
  EXPECT_EQ(conda_of("dependencies: [python]\n").channels, defaults);
  EXPECT_EQ(conda_of("channels: [defaults]\ndependencies: [python]\n").channels, defaults);
  EXPECT_EQ(conda_of("channels: [a, defaults, a]\ndependencies: [python]\n").channels,
            (Texts{"a", defaults[0], defaults[1]}));
}

TEST(CondaFile, AChannelMayBeAFolderThatAllNodesHave) {
  EXPECT_EQ(
      conda_of("channels: [/opt/c, 'file:///opt/d/', 'https://h/e']\ndependencies: [a]\n").channels,
      (Texts{"file:///opt/c", "file:///opt/d", "https://h/e"}));
}

TEST(CondaFile, AFileOfPipIsBesideTheCondaFile) {
  const Files files{{"envs/env.yml", "dependencies: [python, pip: [-r ../r.txt]]\n"},
                    {"r.txt", "\xef\xbb\xbfsix\n"}};
  const auto job = parse_job("job.yml", "command: x\nenvironment: {conda_file: envs/env.yml}\n", {},
                             from(files));
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(std::get<CondaEnvironment>(job->spec.environment->definition).requirements,
            Texts{"six"});
}

TEST(CondaFile, APrefixIsIgnoredAndSaidSo) {
  const std::string said =
      "is ignored: each node's agent decides where its environments are stored";
  Notes notes;
  read("dependencies: [python]\nprefix: /opt/conda/envs/x\n", {}, &notes);
  EXPECT_EQ(notes, Texts{"env.yml:2:1: 'prefix' " + said});
  const auto job = parse_job(
      "job.yml", "command: x\nenvironment:\n  conda_file: {dependencies: [a], prefix: /opt}\n");
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->notes, Texts{"job.yml:3:35: 'environment.conda_file.prefix' " + said});
}

TEST(CondaFile, PlatformsThatChooseNoNodeAreSaidSo) {
  Notes notes;
  read("platforms: [linux-aarch64]\ndependencies: [python]\n", {}, &notes);
  EXPECT_EQ(notes, Texts{"env.yml:1:12: 'platforms' does not select nodes: each node solves for "
                         "its own platform, also for linux-64, which is not listed"});
  notes.clear();
  read("platforms: [osx-64, linux-64]\ndependencies: [python]\n", {}, &notes);
  EXPECT_TRUE(notes.empty());
}

TEST(CondaFile, MatchSpecsInEveryForm) {
  for (const char* spec : {"numpy",
                           "numpy=1.26",
                           "numpy==1.26.4",
                           "numpy=1.26=py311_0",
                           "numpy==1.26=py311h*",
                           "numpy>=1.22,<2",
                           "numpy >=1.22, <2",
                           "numpy >= 1.22",
                           "numpy 1.26.*",
                           "numpy 1.26 py311_0",
                           "numpy=1.26|=1.24",
                           "numpy~=1.26",
                           "numpy!=1.25",
                           "numpy=*=*openblas*",
                           "numpy (>=1,<2)|3",
                           "conda-forge::numpy",
                           "conda-forge/linux-64::numpy=1.26",
                           "https://h/c::numpy",
                           "conda-forge::numpy[version='>=1.2,<2', build=\"h*\"]",
                           "numpy[build_number=1]",
                           "numpy[channel=https://h/c,version='1.26']",
                           "tzdata=20240101123456",
                           "numpy[]",
                           "__cuda>=12",
                           "_libgcc_mutex",
                           "ruamel.yaml",
                           "pytorch 2.1.* *cuda*",
                           "openssl=1.1.1w",
                           "tzdata=2024a",
                           "blas=*=mkl",
                           "r-base=4.3",
                           "python=3.11.*,!=3.11.3"})
    EXPECT_TRUE(check_match_spec(spec)) << check_match_spec(spec).error().message;
}

// ---- lock files
// ----------------------------------------------------------------------------------

TEST(CondaLock, AnExplicitFileIsOnePlatforms) {
  const std::string text = fmt::format(
      "\xef\xbb\xbf# This file may be used to create an environment using:\r\n"
      "# platform: linux-64\r\n\r\n@EXPLICIT\r\n"
      "https://h/c/linux-64/zlib-1.3.1-h4ab18f5_1.conda#sha256:{1}\r\n"
      "https://h/c/noarch/tz-data-2024a-h_0.tar.bz2#{0}\r\n"
      "https://h/c/linux-64/a-1-0.conda#{2}\r\n# pip six @ https://h/six-1.whl "
      "--hash=sha256:{1}\r\n",
      kMd5, kSha256, std::string(64, 'B'));
  const CondaEnvironment conda = conda_of(text);
  ASSERT_EQ(conda.locked.size(), 1U);
  EXPECT_EQ(conda.locked.at("linux-64"),
            (Texts{"https://h/c/linux-64/a-1-0.conda#sha256:" + kSha256,
                   "https://h/c/noarch/tz-data-2024a-h_0.tar.bz2#md5:" + kMd5,
                   "https://h/c/linux-64/zlib-1.3.1-h4ab18f5_1.conda#sha256:" + kSha256}));
  EXPECT_EQ(conda.requirements, Texts{"six @ https://h/six-1.whl --hash=sha256:" + kSha256});
  EXPECT_TRUE(conda.channels.empty() && conda.dependencies.empty());
}

TEST(CondaLock, AnExplicitFileOfNoarchIsForAllPlatforms) {
  const auto conda = conda_of("@EXPLICIT\nfile:///c/noarch/a-1-0.conda#md5:" + kMd5 + "\n");
  EXPECT_EQ(conda.locked.at(""), Texts{"file:///c/noarch/a-1-0.conda#md5:" + kMd5});
}

TEST(CondaLock, TheOrderOfAnExplicitFileMeansNothing) {
  const std::string a = "https://h/c/linux-64/a-1-0.conda#" + kMd5 + "\n";
  const std::string b = "https://h/c/linux-64/b-1-0.conda#" + kMd5 + "\n";
  EXPECT_EQ(conda_of("@EXPLICIT\n" + a + b), conda_of("@EXPLICIT\n" + b + a + b));
}

std::string package(const std::string& name, const std::string& manager,
                    const std::string& platform, const std::string& url,
                    const std::string& category = "main") {
  return fmt::format(
      "- name: {}\n  version: '1'\n  manager: {}\n  platform: {}\n"
      "  dependencies: {{python: '>=3'}}\n  url: {}\n  hash:\n    md5: {}\n    sha256: {}\n"
      "  category: {}\n  optional: false\n",
      name, manager, platform, url, kMd5, kSha256, category);
}

const std::string kLock = "version: 1\nmetadata:\n  platforms: [linux-64, osx-64]\npackage:\n";

TEST(CondaLock, OfCondaLockTheLinuxPlatformsCount) {
  const std::string text =
      kLock + package("a", "conda", "linux-64", "https://h/c/linux-64/a-1-0.conda") +
      package("a", "conda", "osx-64", "https://h/c/osx-64/a-1-0.conda") +
      package("b", "conda", "linux-aarch64", "https://h/c/noarch/b-1-0.tar.bz2") +
      package("six", "pip", "linux-64", "https://h/six-1.whl") +
      package("six", "pip", "linux-aarch64", "https://h/six-1.whl") +
      package("fast", "pip", "linux-64", "https://h/fast-1.whl") +
      package("fast", "pip", "win-64", "https://h/fast-1-win.whl");
  const CondaEnvironment conda = conda_of(text);
  ASSERT_EQ(conda.locked.size(), 2U);
  EXPECT_EQ(conda.locked.at("linux-64"),
            Texts{"https://h/c/linux-64/a-1-0.conda#sha256:" + kSha256});
  EXPECT_EQ(conda.locked.at("linux-aarch64"),
            Texts{"https://h/c/noarch/b-1-0.tar.bz2#sha256:" + kSha256});
  EXPECT_EQ(
      conda.requirements,
      (Texts{"fast @ https://h/fast-1.whl ; platform_machine == 'x86_64' --hash=sha256:" + kSha256,
             "six @ https://h/six-1.whl --hash=sha256:" + kSha256}));
}

TEST(CondaLock, OtherCategoriesAreLeftOutAndSaidSo) {
  const std::string text =
      kLock + package("a", "conda", "linux-64", "https://h/linux-64/a-1-0.conda") +
      package("b", "conda", "linux-64", "https://h/linux-64/b-1-0.conda", "dev");
  Notes notes;
  EXPECT_EQ(read(text, {}, &notes).environment.locked.at("linux-64").size(), 1U);
  EXPECT_EQ(notes,
            Texts{"env.yml:4:1: packages of other categories than 'main' are not installed: b"});
}

TEST(CondaLock, AnMd5IsEnoughForAPackageOfConda) {
  const std::string text = kLock +
                           "- name: a\n  version: '1'\n  manager: conda\n  platform: linux-64\n"
                           "  url: https://h/c/linux-64/a-1-0.conda\n  hash:\n    md5: " +
                           kMd5 + "\n  category: main\n  optional: false\n";
  EXPECT_EQ(conda_of(text).locked.at("linux-64"),
            Texts{"https://h/c/linux-64/a-1-0.conda#md5:" + kMd5});
}

TEST(CondaLock, MayBeLargerThanAJobFile) {
  std::string text = kLock;
  for (int i = 0; i < 3'000; ++i)
    text += package(fmt::format("p{}", i), "conda", "linux-64",
                    fmt::format("https://h/c/linux-64/p{}-1-0.conda", i));
  EXPECT_GT(text.size(), kMaxCondaBytes / 16);
  EXPECT_EQ(conda_of(text).locked.at("linux-64").size(), 3'000U);
}

// ---- the ways to name one
// ------------------------------------------------------------------------

TEST(CondaEnvironment, EveryFormIsTheSameDefinition) {
  const std::string conda = "name: ours\nchannels: [c]\ndependencies: [python, {pip: [six]}]\n";
  const Files files{{"conda.yml", conda},
                    {"azure.yml", "name: azures\nversion: 3\nconda_file: ./conda.yml\n"}};
  const auto of = [&](const std::string& environment) {
    const auto job =
        parse_job("job.yml", "command: x\nenvironment: " + environment + "\n", {}, from(files));
    EXPECT_TRUE(job) << job.error().message;
    return job->spec.environment.value_or(EnvironmentSpec{});
  };
  const EnvironmentSpec inline_ =
      of("{conda_file: {channels: [c], dependencies: [python, pip: [six]]}}");
  EXPECT_EQ(inline_.name, "");
  CondaEnvironment want;
  want.channels = {"c"};
  want.dependencies = {"python"};
  want.requirements = {"six"};
  EXPECT_EQ(inline_.definition, EnvironmentDefinition(want));
  const std::map<std::string, std::string> names{{"{conda_file: conda.yml}", "ours"},
                                                 {"{name: mine, conda_file: conda.yml}", "mine"},
                                                 {"file:conda.yml", "ours"},
                                                 {"file:azure.yml", "azures"}};
  for (const auto& [form, name] : names) {
    EXPECT_EQ(of(form).name, name) << form;
    EXPECT_EQ(of(form).definition, inline_.definition) << form;
    EXPECT_EQ(digest_of(of(form).definition), digest_of(inline_.definition)) << form;
  }
}

TEST(CondaEnvironment, ALockIsTakenWhereAnEnvironmentFileIs) {
  const std::string text = "@EXPLICIT\nhttps://h/c/linux-64/a-1-0.conda#" + kMd5 + "\n";
  Notes notes;
  for (const std::string& lock :
       {text, kLock + package("a", "conda", "linux-64", "https://h/c/linux-64/a-1-0.conda")}) {
    const auto environment = load_environment("lock", from({{"lock", lock}}), notes);
    ASSERT_TRUE(environment) << environment.error().message;
    EXPECT_EQ(std::get<CondaEnvironment>(environment->environment.spec.definition)
                  .locked.count("linux-64"),
              1U);
  }
}

}  // namespace
}  // namespace lockstep::spec
