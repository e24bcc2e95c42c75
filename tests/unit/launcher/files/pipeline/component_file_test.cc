// Components that are registered: what they are called, which files they take with them, and what
// is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "launcher/files/job_file.h"
#include "launcher/files/pipeline/component_file.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kTrain = R"(type: command
name: train
version: 3
description: trains
tags: {team: vision}
inputs:
  data: {type: uri_folder}
  lr: {type: number, min: 2, max: 3}
  kind: {type: string, enum: [fast, slow]}
outputs: {model: {type: uri_folder}}
code: ../src
environment: {image: 'python:3.11', conda_file: ../envs/conda.yml}
command: python t.py ${{inputs.data}} ${{inputs.lr}} ${{inputs.kind}} ${{outputs.model}}
)";

class ComponentFileTest : public testing::Test {
 protected:
  ComponentFileTest() {
    write("src/t.py", "print()\n");
    write("envs/conda.yml", "dependencies: [python=3.11]\n");
    write("parts/train.yml", kTrain);
  }
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = dir_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }
  Result<ComponentFile> load(const std::string& name, const ComponentOptions& options = {},
                             const FindComponent& find = {}) {
    return load_component(dir_ + "/" + name, options, find);
  }
  std::string refusal(const std::string& text) {
    write("parts/bad.yml", text);
    const auto loaded = load("parts/bad.yml");
    return loaded ? "nothing" : loaded.error().message;
  }

  const test::TempDir temp_;
  const std::string& dir_ = temp_.path();
};

TEST_F(ComponentFileTest, AllThatItNamesIsFound) {
  const auto loaded = load("parts/train.yml");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->asset.name, "train");
  EXPECT_EQ(loaded->asset.version, "3");
  EXPECT_EQ(loaded->asset.description, "trains");
  EXPECT_EQ(loaded->asset.tags.at("team"), "vision");
  EXPECT_EQ(loaded->asset.component, ComponentType::command);
  EXPECT_TRUE(std::filesystem::equivalent(loaded->root, dir_));
  EXPECT_EQ(loaded->asset.file, "parts/train.yml");
  EXPECT_THAT(loaded->files, ElementsAre("envs/conda.yml", "parts/train.yml"));
  EXPECT_THAT(loaded->sources, ElementsAre("src"));
  EXPECT_THAT(loaded->folders, IsEmpty());
}

TEST_F(ComponentFileTest, OptionsAreOverTheFile) {
  const auto loaded = load("parts/train.yml", {{{"name", "fit"}, {"version", "9"}}, {{"a", "b"}}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->asset.name, "fit");
  EXPECT_EQ(loaded->asset.version, "9");
  EXPECT_EQ(loaded->asset.tags.size(), 2u);
}

TEST_F(ComponentFileTest, APipelineTakesTheFilesOfItsSteps) {
  write("data/a.csv", "1\n");
  write("all.yml", R"(type: pipeline
name: all
jobs:
  train:
    component: parts/train.yml
    inputs: {data: {path: ./data}, lr: 2.5, kind: slow}
  say: {command: echo hi, code: ./src}
)");
  const auto loaded = load("all.yml");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->asset.component, ComponentType::pipeline);
  EXPECT_EQ(loaded->asset.file, "all.yml");
  EXPECT_THAT(loaded->files, ElementsAre("all.yml", "envs/conda.yml", "parts/train.yml"));
  EXPECT_THAT(loaded->sources, ElementsAre("src"));
  EXPECT_THAT(loaded->folders, ElementsAre("data"));
}

TEST_F(ComponentFileTest, AFolderOfItsOwnIsTheRoot) {
  write("alone/c.yml", "name: c\ncommand: ls\ncode: .\n");
  const auto loaded = load("alone/c.yml");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->asset.file, "c.yml");
  EXPECT_THAT(loaded->sources, ElementsAre(""));
}

TEST_F(ComponentFileTest, WhatComesIntoTheCodeIsTakenAlong) {
  write("lib/util.py", "");
  write("one.py", "");
  write("parts/c.yml",
        "name: c\ncommand: ls\ncode: ../src\nadditional_includes: [../lib/, ../one.py]\n");
  const auto loaded = load("parts/c.yml");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(loaded->files, ElementsAre("one.py", "parts/c.yml"));
  EXPECT_THAT(loaded->sources, ElementsAre("lib", "src"));
}

TEST_F(ComponentFileTest, AnotherRegisteredComponentStaysWhereItIs) {
  write("fetched/parts/one.yml", "command: ls\ncode: ../src\ninputs: {n: {type: integer}}\n");
  write("fetched/src/x", "");
  const FindComponent find = [&](const AssetReference& reference) -> Result<FoundComponent> {
    EXPECT_EQ(reference.name, "one");
    return FoundComponent{dir_ + "/fetched", dir_ + "/fetched/parts/one.yml"};
  };
  write("all.yml",
        "type: pipeline\nname: all\njobs: {a: {component: 'azureml:one:1', inputs: {n: 1}}}\n");
  const auto loaded = load("all.yml", {}, find);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(loaded->files, ElementsAre("all.yml"));
  EXPECT_THAT(loaded->sources, IsEmpty());
  write("all.yml",
        "type: pipeline\nname: all\njobs: {a: {component: azureml:one@latest, inputs: {n: 1}}}\n");
  const auto floating = load("all.yml", {}, find);
  ASSERT_FALSE(floating);
  EXPECT_THAT(floating.error().message, HasSubstr("write azureml:one:VERSION"));
}

TEST_F(ComponentFileTest, ACopyNamesOnlyItsOwnFiles) {
  namespace fs = std::filesystem;
  write("copy/src/t.py", "");
  write("copy/c.yml", "name: c\ncommand: ls\ncode: ./src\n");
  write("private/key", "dependencies: [python=3.11]\n");
  const auto check = [&](const std::string& text) {
    write("copy/c.yml", text);
    const auto loaded = load("copy/c.yml");
    if (!loaded) return loaded.error().message;
    const Status inside = check_is_inside(dir_ + "/copy", *loaded);
    return inside ? std::string("inside") : inside.error().message;
  };
  const std::string head = "name: c\ncommand: ls\n", denied = "is not one of its own files";
  EXPECT_EQ(check(head + "code: ./src\n"), "inside");
  EXPECT_EQ(check(head + "code: .\n"), "inside");
  EXPECT_THAT(check(head + "code: ../private\n"), HasSubstr("/private, which " + denied));
  EXPECT_THAT(check(head + "code: ..\n"), HasSubstr(denied));
  EXPECT_THAT(check(head + "additional_includes: [../private/key]\n"), HasSubstr(denied));
  EXPECT_THAT(check(head + "environment: {image: x, conda_file: ../private/key}\n"),
              HasSubstr(denied));
  EXPECT_THAT(check("name: c\ntype: pipeline\njobs: {a: {command: ls, inputs: {d: {path: "
                    "../private}}}}\n"),
              HasSubstr(denied));
  EXPECT_THAT(check(head + "code: " + dir_ + "/private\n"), HasSubstr("absolute path"));
  fs::create_directory_symlink(dir_ + "/private", dir_ + "/copy/linked");
  EXPECT_THAT(check(head + "code: ./linked\n"), HasSubstr(denied));
  fs::create_symlink(dir_ + "/private/key", dir_ + "/copy/conda.yml");
  EXPECT_THAT(check(head + "environment: {image: x, conda_file: conda.yml}\n"), HasSubstr(denied));
  write("copy-of-another/x", "");
  EXPECT_THAT(check(head + "code: ../copy-of-another\n"), HasSubstr(denied));
}

// A value chose the path after the component was checked: ~/.ssh was sent to whoever had written
// it.
TEST_F(ComponentFileTest, AStepsValuesDoNotLeadOutOfTheCopy) {
  write("private/key", "secret");
  write("copy/own/x", "");
  const FindComponent find = [&](const AssetReference&) -> Result<FoundComponent> {
    return FoundComponent{dir_ + "/copy", dir_ + "/copy/c.yml"};
  };
  const auto use = [&](const std::string& step, const std::string& value) {
    write("copy/c.yml",
          "name: c\ntype: pipeline\ninputs: {x: {type: string}}\njobs: {a: " + step + "}\n");
    const std::string job = write(
        "home/job.yml",
        "type: pipeline\njobs: {s: {component: 'azureml:c:1', inputs: {x: " + value + "}}}\n");
    const auto loaded = load_job(job, {}, read_regular_text_file, find);
    if (loaded) {
      EXPECT_THAT(loaded->steps[0].data, IsEmpty());
    }
    return loaded ? std::string("read") : loaded.error().message;
  };
  const std::string denied = "which is not one of its own files";
  const std::string includes = "{command: ls, additional_includes: ['./${{parent.inputs.x}}']}";
  EXPECT_EQ(use(includes, "own"), "read");
  EXPECT_THAT(use(includes, "../private"), HasSubstr(denied));
  EXPECT_THAT(use(includes, "../home/job.yml"), HasSubstr(denied));
  std::filesystem::create_directory_symlink(dir_ + "/private", dir_ + "/copy/linked");
  EXPECT_THAT(use(includes, "linked"), HasSubstr(denied));
  const std::string nested =
      "{type: pipeline, jobs: {b: " + includes + "}, inputs: {x: ../private}}";
  EXPECT_THAT(use(nested, "own"), HasSubstr(denied));
  // Of an input, such a path is a text.
  EXPECT_EQ(use("{command: ls, inputs: {d: {path: './${{parent.inputs.x}}'}}}", "../private"),
            "read");
  EXPECT_NE(use("{component: './${{parent.inputs.x}}'}", "../home/job.yml"), "read");
}

TEST_F(ComponentFileTest, WhatIsItsUsersIsRefusedHereAndInACopy) {
  const FindComponent find = [&](const AssetReference&) -> Result<FoundComponent> {
    return FoundComponent{dir_ + "/parts", dir_ + "/parts/bad.yml"};
  };
  const std::string job =
      write("home/job.yml", "type: pipeline\njobs: {s: {component: 'azureml:c:1'}}\n");
  const auto expect = [&](const std::string& step, const std::string& why) {
    EXPECT_THAT(refusal("name: c\ntype: pipeline\njobs: {a: " + step + "}\n"), HasSubstr(why));
    const auto loaded = load_job(job, {}, read_regular_text_file, find);
    EXPECT_THAT(loaded ? "read" : loaded.error().message, HasSubstr(why));
  };
  expect("{command: ls, environment_variables: {T: '${{secrets.tok}}'}}",
         "write 'environment_variables: {T: ${{secrets.tok}}}' in the step that uses it");
  expect("{command: ls, inputs: {d: {path: 'azureml://jobs/j/outputs/artifacts/paths/outputs'}}}",
         "may not read outputs of a job");
  expect("{command: ls, inputs: {d: {type: uri_file, path: 'http://127.0.0.1:1/x'}}}",
         "may not read an address");
  // The user's own step may give the secret.
  write("parts/bad.yml", "name: c\ncommand: ls\n");
  write("home/job.yml",
        "type: pipeline\njobs: {s: {component: 'azureml:c:1', environment_variables: {T: "
        "'${{secrets.tok}}'}}}\n");
  const auto loaded = load_job(job, {}, read_regular_text_file, find);
  EXPECT_TRUE(loaded) << loaded.error().message;
}

TEST_F(ComponentFileTest, WhatCannotBeRegisteredIsRefusedWithItsPlace) {
  EXPECT_THAT(refusal("command: ls\n"), HasSubstr("bad.yml:1:1: needs a name"));
  EXPECT_THAT(refusal("name: c\ncommand: ls\ncode: " + dir_ + "/src\n"),
              HasSubstr("bad.yml:3:7: 'code': " + dir_ + "/src is an absolute path"));
  EXPECT_THAT(refusal("name: c\ncommand: ls\nenvironment: {image: x, conda_file: " + dir_ +
                      "/envs/conda.yml}\n"),
              HasSubstr("is an absolute path"));
  EXPECT_THAT(refusal("name: c\ncommand: ls\ncode: ../gone\n"), HasSubstr("bad.yml:3:7: code"));
  EXPECT_THAT(refusal("name: c\ncommand: ls ${{inputs.x}}\n"), HasSubstr("bad.yml:2:"));
  const std::string adds = "name: c\ncommand: ls\nadditional_includes: ";
  EXPECT_THAT(refusal(adds + "[../gone]\n"),
              HasSubstr("bad.yml:3:23: 'additional_includes': ../gone"));
  EXPECT_THAT(refusal(adds + "[../src, ../envs/../src]\n"), HasSubstr("so does another one"));
  EXPECT_THAT(refusal(adds + "[/etc/passwd]\n"), HasSubstr("is an absolute path"));
  EXPECT_THAT(refusal(adds + "[/]\n"), HasSubstr("absolute path"));
  EXPECT_THAT(refusal(adds + "../src\n"), HasSubstr("must be a list of files and folders"));
  EXPECT_THAT(refusal(adds + "[{a: b}]\n"), HasSubstr("bad.yml:3:"));
  EXPECT_THAT(refusal("name: c\n"), HasSubstr("'command' is missing"));
  EXPECT_THAT(refusal("name: c\nversion: latest\ncommand: ls\n"), HasSubstr("'latest' stands"));
  EXPECT_THAT(refusal("name: [c]\ncommand: ls\n"), HasSubstr("'name' must be a single value"));
  EXPECT_THAT(refusal("name: c\ntags: x\ncommand: ls\n"), HasSubstr("'tags' must be a mapping"));
  EXPECT_THAT(refusal("name: c\ntype: sweep\ncommand: ls\n"), HasSubstr("bad.yml:2:"));
}

}  // namespace
}  // namespace lockstep::spec
