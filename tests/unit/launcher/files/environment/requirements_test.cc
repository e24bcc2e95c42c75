#include "launcher/files/environment/requirements.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

namespace lockstep::spec {
namespace {

using Files = std::map<std::string, std::string>;

const std::string kA(64, 'a');
const std::string kB(64, 'b');

ReadText from(const Files& files) {
  return [files](const std::string& path) -> Result<std::string> {
    const auto found = files.find(std::filesystem::path(path).lexically_normal().string());
    if (found == files.end()) return make_error(ErrorCode::not_found, "there is no " + path);
    return found->second;
  };
}

std::string refusal(const Files& files) {
  VenvEnvironment environment;
  const Status read = read_requirements("r.txt", from(files), environment);
  return read ? "" : read.error().message;
}

TEST(Requirements, LinesAreAsPipReadsThem) {
  VenvEnvironment read;
  ASSERT_TRUE(read_requirements("r.txt",
                                from({{"r.txt",
                                       "# all of it\r\n"
                                       "numpy==1.26.4   # pinned\r\n"
                                       "\n"
                                       "torch>=2; python_version >= '3.9'\n"
                                       "six==1.16 \\\n"
                                       "    --hash=sha256:" +
                                           kA +
                                           " \\\n"
                                           "    --hash=sha256:" +
                                           kB +
                                           "\n"
                                           "pkg @ https://host/pkg-1.whl#sha256=cc\n"
                                           "last"}}),
                                read));
  EXPECT_EQ(read.requirements, (std::vector<std::string>{
                                   "numpy==1.26.4", "torch>=2; python_version >= '3.9'",
                                   "six==1.16     --hash=sha256:" + kA + "     --hash=sha256:" + kB,
                                   "pkg @ https://host/pkg-1.whl#sha256=cc", "last"}));
  EXPECT_TRUE(read.options.empty());
  EXPECT_TRUE(read.constraints.empty());
}

TEST(Requirements, ACommentBetweenJoinedLinesEndsNothing) {
  VenvEnvironment read;
  ASSERT_TRUE(read_requirements("r.txt", from({{"r.txt", "six \\\n  # why\nnumpy"}}), read));
  EXPECT_EQ(read.requirements, (std::vector<std::string>{"six", "numpy"}));
}

TEST(Requirements, OptionsHaveOneSpelling) {
  VenvEnvironment read;
  ASSERT_TRUE(read_requirements("r.txt",
                                from({{"r.txt",
                                       "-i https://a\n--index-url=https://b\n"
                                       "--extra-index-url  https://c\n-f https://d\n"
                                       "--find-links /shared/wheels\n--no-binary :all:\n"
                                       "--pre\n--prefer-binary\n--no-index\n"}}),
                                read));
  EXPECT_EQ(read.options,
            (std::vector<std::string>{"--index-url https://a", "--index-url https://b",
                                      "--extra-index-url https://c", "--find-links https://d",
                                      "--find-links /shared/wheels", "--no-binary :all:", "--pre",
                                      "--prefer-binary", "--no-index"}));
}

TEST(Requirements, FilesThatAreNamedAreReadFromBesideTheOneThatNamesThem) {
  VenvEnvironment read;
  ASSERT_TRUE(read_requirements("a/r.txt",
                                from({{"a/r.txt", "one\n-r sub/more.txt\n-c limits.txt\nfour"},
                                      {"a/sub/more.txt", "two\n--requirement ../base.txt"},
                                      {"a/base.txt", "three"},
                                      {"a/limits.txt", "six<2\n-r base.txt"}}),
                                read));
  EXPECT_EQ(read.requirements, (std::vector<std::string>{"one", "two", "three", "four"}));
  EXPECT_EQ(read.constraints, (std::vector<std::string>{"six<2", "three"}));
}

TEST(Requirements, WhatCannotBeTheSameOnEveryNodeIsRefusedWithItsPlace) {
  const struct {
    Files files;
    std::string says;
  } cases[] = {
      {{{"r.txt", "six\n-e ."}}, "r.txt:2: '-e .': an editable install"},
      {{{"r.txt", "./pkg"}}, "r.txt:1: './pkg': is a path"},
      {{{"r.txt", "\n\n/abs/pkg.whl"}}, "r.txt:3: '/abs/pkg.whl': is a path"},
      {{{"r.txt", "wheels/pkg.whl"}}, "is a path"},
      {{{"r.txt", "pkg @ file:///x"}}, "is a path"},
      {{{"r.txt", "git+https://host/x"}}, "version control"},
      {{{"r.txt", "pkg @ git+ssh://host/x"}}, "version control"},
      {{{"r.txt", "--frobnicate"}}, "r.txt:1: '--frobnicate': unknown option"},
      {{{"r.txt", "--index-url"}}, "--index-url needs a value"},
      {{{"r.txt", "--pre yes"}}, "--pre takes no value"},
      {{{"r.txt", "-f wheels"}}, "r.txt:1: '-f wheels': the path is relative"},
      {{{"r.txt", "-r"}}, "names no file"},
      {{{"r.txt", "-r https://host/r.txt"}}, "only local files are read"},
      {{{"r.txt", "six\n-r none.txt"}}, "r.txt:2: there is no none.txt"},
      {{{"r.txt", "six\n-r ./r.txt"}}, "r.txt:2: ./r.txt includes itself through -r or -c"},
      {{{"r.txt", "-r b.txt"}, {"b.txt", "six\n-e ."}}, "b.txt:2: '-e .'"},
      {{{"r.txt", "-r b.txt"}, {"b.txt", "-r r.txt"}},
       "b.txt:1: r.txt includes itself through -r or -c"},
      {{{"r.txt", "six\n-i https://${TOKEN_2}@host/simple"}},
       "r.txt:2: '-i https://${TOKEN_2}@host/simple': ${TOKEN_2} may have another value on each "
       "node; write the value itself, or, for a package index, set PIP_INDEX_URL for the nodes' "
       "agents instead"},
      {{{"r.txt", "six==${VERSION}"}},
       "r.txt:1: 'six==${VERSION}': ${VERSION} may have another value"},
      {{{"r.txt", "-r ${WHERE}/r.txt"}},
       "r.txt:1: '-r ${WHERE}/r.txt': ${WHERE} may have another value"},
      {{{"r.txt", "\n  six=>1 # why"}}, "r.txt:2:6: 'six=>1': '=>' is not an operator; write >="},
      {{{"r.txt", "-r b.txt"}, {"b.txt", "six\nsix=1"}},
       "b.txt:2:4: 'six=1': '=' is not an operator"},
      {{{"r.txt", "-c c.txt"}, {"c.txt", "six<"}}, "c.txt:1:4: 'six<': no version follows '<'"},
      {{{"r.txt", "six==1 \\\n \\\n  --hash=sha256:zz"}},
       "r.txt:3:3: 'six==1    --hash=sha256:zz': 'zz' is not a valid sha256: exactly 64 "
       "hexadecimal digits are expected"},
      {{{"r.txt", "six; os_name == 'ü' x"}}, "r.txt:1:21: "},
  };
  for (const auto& one : cases)
    EXPECT_NE(refusal(one.files).find(one.says), std::string::npos)
        << one.says << "\n but: " << refusal(one.files);
}

TEST(Requirements, AllLinesThatAreWrongAreSaid) {
  EXPECT_EQ(refusal({{"r.txt", "six=1\nnumpy\n-e .\n-r more.txt\n./pkg\n"},
                     {"more.txt", "six\ntorch=>2\n"}}),
            "r.txt:1:4: 'six=1': '=' is not an operator; write ==\n"
            "r.txt:3: '-e .': an editable install needs a directory, which may not exist on the "
            "nodes; put the directory below `code` and set PYTHONPATH in environment_variables\n"
            "more.txt:2:6: 'torch=>2': '=>' is not an operator; write >=\n"
            "r.txt:5: './pkg': is a path, which may not exist on the nodes; put the package below "
            "`code` and install it in the command, or give its address");
  EXPECT_THAT(refusal({{"r.txt", "six=1\n-r none.txt\nsix=2\n"}}),
              testing::HasSubstr("r.txt:1:4: 'six=1': '=' is not an operator; write ==\n"
                                 "r.txt:2: there is no none.txt"));
}

// What `pip freeze` writes there for all that conda installed.
TEST(Requirements, ThoseOfACondaEnvironmentAreKnown) {
  const std::string cause = "r.txt: made by `pip freeze` in a conda environment: ";
  for (const char* place :
       {"file:///croot/numpy_and_numpy_base_1708638617955/work/dist/numpy-1.26.4.whl#sha256=ab",
        "file:///home/conda/feedstock_root/build_artifacts/six_1620240208055/work",
        "file:///tmp/build/80754af9/six_1623709665295/work", "file:///C:/ci/six_1/work",
        "file:///opt/conda/conda-bld/six_1/work"}) {
    const std::string said = refusal({{"r.txt", fmt::format("torch\nsix @ {}\n", place)}});
    EXPECT_TRUE(said.starts_with(cause)) << said;
    EXPECT_THAT(said, testing::HasSubstr(fmt::format("\nr.txt:2: 'six @ {}': is a path", place)));
    EXPECT_THAT(said, testing::HasSubstr("pip list --format=freeze"));
  }
  EXPECT_THAT(refusal({{"r.txt", "six @ file:///home/me/six\n"}}),
              testing::Not(testing::HasSubstr("conda")));
  std::string all;
  for (int i = 0; i < 200; ++i) all += fmt::format("p{} @ file:///croot/p{}/work\n", i, i);
  EXPECT_TRUE(refusal({{"r.txt", all}}).starts_with(cause));
  EXPECT_THAT(refusal({{"r.txt", all}}), testing::EndsWith("\nand 181 more"));
}

// `pip freeze > requirements.txt` in PowerShell.
TEST(Requirements, Utf16IsRead) {
  const std::string bytes("\xff\xfes\0i\0x\0\r\0\n\0t\0o\0y\0", 18);
  VenvEnvironment read;
  const Status good = read_requirements("r.txt", checked(from({{"r.txt", bytes}})), read);
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(read.requirements, (std::vector<std::string>{"six", "toy"}));
  EXPECT_EQ(checked(from({{"r.txt", bytes + "x"}}))("r.txt").error().message,
            "r.txt:1:1: is not UTF-8 text but begins as UTF-16; save the file as UTF-8");
}

TEST(Requirements, WhatOnlyLooksLikeAVariableIsTaken) {
  EXPECT_EQ(refusal({{"r.txt", "x @ https://h/${lower}/$UPPER/${}/x.whl  # ${COMMENT}"}}), "");
}

// Otherwise each level of files multiplies what is read.
TEST(Requirements, ATreeOfFilesIsReadUpToALimit) {
  for (const char* option : {"-r", "-c"}) {
    Files files{{"f0.txt", "# nothing\n"}};
    for (int level = 1; level < 15; ++level)
      for (int i = 0; i < 30; ++i)
        files[fmt::format("f{}.txt", level)] += fmt::format("{} f{}.txt\n", option, level - 1);
    files["r.txt"] = "-r f14.txt\n";
    EXPECT_THAT(refusal(files),
                testing::MatchesRegex("f1\\.txt:[0-9]+: too many lines: at most 10000 are allowed, "
                                      "and a file counts each time that -r or -c includes it"));
  }
  std::string most;
  for (int i = 0; i < 10'000; ++i) most += "# why\nsix\n";
  EXPECT_EQ(refusal({{"r.txt", most}}), "");
  EXPECT_THAT(refusal({{"r.txt", most + "six\n"}}),
              testing::HasSubstr("r.txt:20001: too many lines"));
}

TEST(Requirements, CommentsOfManyFilesAreReadUpToALimit) {
  Files files{{"big.txt", "#" + std::string(4 << 20, 'x')}};
  for (int i = 0; i < 20; ++i) files["r.txt"] += "-r big.txt\n";
  EXPECT_EQ(refusal(files), "big.txt:1: all requirements files together have more than 64.0 MiB");
}

TEST(Requirements, AListFollowsTheSameRules) {
  VenvEnvironment environment;
  EXPECT_TRUE(add_requirement("  numpy==1.26.4 # pinned", environment));
  EXPECT_TRUE(add_requirement("--pre", environment));
  EXPECT_EQ(environment.requirements, std::vector<std::string>{"numpy==1.26.4"});
  EXPECT_EQ(environment.options, std::vector<std::string>{"--pre"});
  EXPECT_FALSE(add_requirement("-r other.txt", environment));
  EXPECT_FALSE(add_requirement("-e .", environment));
  EXPECT_FALSE(add_requirement("six==${VERSION}", environment));
  const Status wrong = add_requirement("six=1", environment);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "'six=1': '=' is not an operator; write ==");
}

TEST(Requirements, APasswordInAnAddressIsRefused) {
  for (const char* line :
       {"--index-url https://ann:s3cr3t@host/simple", "six @ https://ann:x@host/six.whl"}) {
    VenvEnvironment environment;
    const Status added = add_requirement(line, environment);
    ASSERT_FALSE(added) << line;
    EXPECT_EQ(added.error().message.find("s3cr3t"), std::string::npos);
    EXPECT_NE(added.error().message.find("PIP_INDEX_URL"), std::string::npos);
  }
  VenvEnvironment environment;
  EXPECT_TRUE(add_requirement("--index-url https://ann@host:8080/simple", environment));
  EXPECT_TRUE(add_requirement("--index-url https://host:8080/simple", environment));
}

}  // namespace
}  // namespace lockstep::spec
