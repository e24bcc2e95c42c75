#include "envs/lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "envs/venv/solved.h"

namespace lockstep::envs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kA(64, 'a');
const std::string kB(64, 'b');

Lock some_lock() {
  return {
      "venv",
      "linux-x86_64",
      "pip 23.0.1",
      {{"numpy", "1.26.4", {kA, kB}, "", 0}, {"six", "1.16.0", {kA}, "https://host/six.whl", 11}},
      {}};
}

Lock conda_lock() {
  Lock lock{"conda", "linux-64 __glibc=2.36", "py-rattler 0.28.0", {}, {}};
  lock.conda = {{"libc", "1!2.0", "h1_0", "https://host/linux-64/libc-2-h1_0.conda", kA, 7,
                 R"({"depends":["__glibc >=2.17"],"name":"libc"})"},
                {"zlib", "1", "0", "file:///channel/noarch/zlib-1-0.tar.bz2", kB, 0, "{}"}};
  return lock;
}

TEST(Locks, ComeBackFromTheirText) {
  const auto back = lock_from_json(to_json(some_lock()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, some_lock());
  EXPECT_EQ(to_json(*back), to_json(some_lock()));
}

TEST(Locks, OfCondaPackagesComeBackFromTheirText) {
  const auto back = lock_from_json(to_json(conda_lock()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, conda_lock());
  EXPECT_EQ(to_json(*back), to_json(conda_lock()));
  // Those that were stored before there was conda keep their digest.
  EXPECT_THAT(to_json(some_lock()), Not(HasSubstr("conda")));
}

TEST(Locks, OfCondaPackagesThatAreNoneAreRefusedWithWhatIsWrong) {
  const auto refusal = [](const std::function<void(LockedCondaPackage&)>& change) {
    Lock lock = conda_lock();
    change(lock.conda[0]);
    const auto back = lock_from_json(to_json(lock));
    return back ? std::string() : back.error().message;
  };
  EXPECT_THAT(refusal([](auto& p) { p.sha256 = "12"; }),
              HasSubstr("'12' is not a valid SHA-256 of libc"));
  EXPECT_THAT(refusal([](auto& p) { p.url += "\n@x"; }), HasSubstr("not a valid address of libc"));
  EXPECT_THAT(refusal([](auto& p) { p.url = "libc.conda"; }),
              HasSubstr("not a valid address of libc"));
  EXPECT_THAT(refusal([](auto& p) { p.name = "../libc"; }),
              HasSubstr("not a valid name of a conda package"));
  EXPECT_THAT(refusal([](auto& p) { p.version = "1 2"; }),
              HasSubstr("not a valid version of libc"));
  EXPECT_THAT(refusal([](auto& p) { p.build = ""; }), HasSubstr("not a valid build of libc"));
  for (const char* record : {"", "[]", "3", "{"})
    EXPECT_THAT(refusal([&](auto& p) { p.record = record; }),
                HasSubstr("the record of libc is not a JSON object"));
}

TEST(Locks, OfAnImageThatAreNoneAreRefusedWithWhatIsWrong) {
  Lock lock{"docker", "linux-x86_64", "docker 20", {}, {}};
  const auto refusal = [&](const std::string& id, const std::string& digest) {
    lock.image = {id, "debian:12", digest, "a", false, "", "", {}, {}};
    const auto back = lock_from_json(to_json(lock));
    return back ? "" : back.error().message;
  };
  EXPECT_EQ(refusal("sha256:" + kA, ""), "");
  EXPECT_EQ(refusal("sha256:" + kA, "debian@sha256:" + kB), "");
  EXPECT_THAT(refusal("--privileged", ""), HasSubstr("not a valid image id"));
  EXPECT_THAT(refusal("sha256:" + kA, "--x@sha256:" + kB), HasSubstr("not a valid image digest"));
  EXPECT_THAT(refusal("sha256:" + kA, "debian:12"), HasSubstr("not a valid image digest"));
}

TEST(Locks, OfAMillionLevelsAreRefused) {
  constexpr std::size_t kLevels = 1'000'000;
  std::string text = to_json(conda_lock());
  const std::string record = R"("record": {})";
  const auto at = text.find(record);
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, record.size(),
               R"("record": {"a": )" + std::string(kLevels, '[') + std::string(kLevels, ']') + "}");
  const auto lock = lock_from_json(text);
  ASSERT_FALSE(lock);
  EXPECT_THAT(lock.error().message, HasSubstr("more than 64 levels"));
}

TEST(Locks, HoldPipToEveryHash) {
  EXPECT_EQ(hashed_requirements(some_lock()), "numpy==1.26.4 --hash=sha256:" + kA +
                                                  " --hash=sha256:" + kB +
                                                  "\nsix==1.16.0 --hash=sha256:" + kA + "\n");
}

TEST(Locks, ThatAreNoneAreRefusedWithWhatIsWrong) {
  const auto refusal = [](const std::string& text) {
    const auto lock = lock_from_json(text);
    return lock ? std::string() : lock.error().message;
  };
  const auto with = [](const std::function<void(Lock&)>& change) {
    Lock lock = some_lock();
    change(lock);
    return to_json(lock);
  };
  EXPECT_THAT(refusal("{"), HasSubstr("it is not JSON"));
  EXPECT_THAT(refusal("{}"), HasSubstr("format"));
  EXPECT_THAT(refusal(R"({"format": 9})"), HasSubstr("its format is 9"));
  EXPECT_THAT(refusal(with([](Lock& l) { l.packages[0].sha256.clear(); })),
              HasSubstr("numpy has no hash"));
  EXPECT_THAT(refusal(with([](Lock& l) { l.packages[0].sha256 = {"12"}; })),
              HasSubstr("not a valid SHA-256 of numpy"));
  // Nothing of it may become an option of pip.
  EXPECT_THAT(refusal(with([](Lock& l) { l.packages[0].name = "--pre"; })),
              HasSubstr("not a valid package name"));
  EXPECT_THAT(refusal(with([](Lock& l) { l.packages[0].version = "1\n--pre"; })),
              HasSubstr("not a valid version of numpy"));
}

TEST(Locks, NamesAreThoseOfPEP503) {
  EXPECT_EQ(normalised_name("Foo__Bar.-baz"), "foo-bar-baz");
  EXPECT_EQ(normalised_name("six"), "six");
}

TEST(PipReport, GivesNameVersionAddressAndHash) {
  const auto packages = packages_of_report(R"({"version": "1", "install": [
    {"download_info": {"url": "https://h/Six-1.whl", "archive_info": {"hash": "sha256=)" +
                                           kA + R"("}},
     "metadata": {"name": "Six", "version": "1"}},
    {"download_info": {"url": "https://h/a.whl", "archive_info": {"hashes": {"sha256": ")" +
                                           kB + R"("}}},
     "metadata": {"name": "a", "version": "2"}}]})");
  ASSERT_TRUE(packages) << packages.error().message;
  EXPECT_THAT(*packages, ElementsAre(LockedPackage{"a", "2", {kB}, "https://h/a.whl", 0},
                                     LockedPackage{"six", "1", {kA}, "https://h/Six-1.whl", 0}));
}

TEST(PipReport, WhatHasNoHashIsNamed) {
  const auto refusal = [](const std::string& text) {
    const auto packages = packages_of_report(text);
    return packages ? std::string() : packages.error().message;
  };
  const std::string begin =
      R"({"version": "1", "install": [{"metadata": {"name": "x", "version": "1"}, "download_info": )";
  EXPECT_THAT(refusal(begin + R"({"url": "file:///x", "dir_info": {}}}]})"),
              HasSubstr("x cannot be pinned to a hash"));
  EXPECT_THAT(refusal(begin + R"({"url": "https://h/x", "archive_info": {}}}]})"),
              HasSubstr("the SHA-256 of https://h/x is unknown"));
  EXPECT_THAT(refusal("oh"), HasSubstr("not JSON"));
  EXPECT_THAT(refusal(R"({"version": "2"})"), HasSubstr("version 2"));
  EXPECT_THAT(refusal(R"({"version": "1"})"), HasSubstr("install"));
}

TEST(Compiled, GivesEveryHashOfTheIndex) {
  const auto packages = packages_of_compiled(
      "# by uv\n--index-url https://h\n\n"
      "torch[opt]==2.1 ; python_version >= '3.9' \\\n"
      "    --hash=sha256:" +
      kB +
      " \\\n"
      "    --hash=sha256:" +
      kA +
      "\n    # via -r in\n"
      "six==1.16.0 --hash=sha256:" +
      kA + "\n");
  ASSERT_TRUE(packages) << packages.error().message;
  EXPECT_THAT(*packages, ElementsAre(LockedPackage{"six", "1.16.0", {kA}, "", 0},
                                     LockedPackage{"torch", "2.1", {kA, kB}, "", 0}));
}

TEST(Compiled, WhatWasAskedForByItsAddressKeepsIt) {
  const auto packages = packages_of_compiled(
      "Outer[opt] @ https://h/outer-1.2-py3-none-any.whl ; sys_platform == 'linux' \\\n"
      "    --hash=sha256:" +
      kA + "\nsources @ file:///d/sources-2.0.tar.gz --hash=sha256:" + kB +
      "\ntip @ https://h/archive/main.zip#egg=tip --hash=sha256:" + kB + "\n");
  ASSERT_TRUE(packages) << packages.error().message;
  EXPECT_THAT(
      *packages,
      ElementsAre(
          LockedPackage{"outer", "1.2", {kA}, "https://h/outer-1.2-py3-none-any.whl", 0, true},
          LockedPackage{"sources", "2.0", {kB}, "file:///d/sources-2.0.tar.gz", 0, true},
          LockedPackage{"tip", "0", {kB}, "https://h/archive/main.zip#egg=tip", 0, true}));
}

TEST(Compiled, WhatHasNoHashIsNamed) {
  EXPECT_THAT(packages_of_compiled("six==1\n").error().message,
              HasSubstr("six cannot be pinned to a hash"));
  EXPECT_THAT(packages_of_compiled("six @ https://h/x.zip\n").error().message,
              HasSubstr("six cannot be pinned to a hash"));
  EXPECT_THAT(packages_of_compiled("./six\n").error().message,
              HasSubstr("not pinned to a version from an index"));
}

}  // namespace
}  // namespace lockstep::envs
