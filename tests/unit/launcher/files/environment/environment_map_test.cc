#include "launcher/files/environment/environment_map.h"

#include <gtest/gtest.h>

#include "tests/unit/launcher/files/environment/bad_environments.h"

namespace lockstep::spec {
namespace {

constexpr const char* kUrl = "azureml://registries/azureml/environments/sklearn-1.5/labels/latest";

std::string error_of(const Files& files, const std::string& key) {
  const auto found = find_in_map("home/environments.map", {key}, from(files));
  return found ? "accepted" : found.error().message;
}

TEST(EnvironmentMap, ThereMayBeNoneOrAnEmptyOne) {
  for (const Files& files : {Files{}, Files{{"home/environments.map", ""}},
                             Files{{"home/environments.map", "# nothing\n\n  # yet\r\n"}}}) {
    const auto found = find_in_map("home/environments.map", {kUrl}, from(files));
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_FALSE(*found);
  }
}

TEST(EnvironmentMap, AnEntryIsAPathBesideTheMapOrADefinition) {
  const Files files{{"home/environments.map",
                     std::string(kUrl) + ": envs/sklearn.yml\ntools: {requirements: [six]}\n"},
                    {"home/envs/sklearn.yml", "interpreter: /opt/sklearn/bin/python\n"}};
  const auto mapped = find_in_map("home/environments.map", {kUrl}, from(files));
  ASSERT_TRUE(mapped && *mapped);
  EXPECT_EQ((*mapped)->spec.definition,
            EnvironmentDefinition(HostEnvironment{"/opt/sklearn/bin/python"}));
  const auto whole = find_in_map("home/environments.map", {"nowhere", "tools"}, from(files));
  ASSERT_TRUE(whole && *whole);
  EXPECT_TRUE(std::holds_alternative<VenvEnvironment>((*whole)->spec.definition));
}

TEST(EnvironmentMap, TheFirstKeyCounts) {
  const Files files{{"home/environments.map", "a: {interpreter: a}\nb: {interpreter: b}\n"}};
  const auto found = find_in_map("home/environments.map", {"b", "a"}, from(files));
  ASSERT_TRUE(found && *found);
  EXPECT_EQ(std::get<HostEnvironment>((*found)->spec.definition).interpreter, "b");
}

TEST(EnvironmentMap, OnlyTheEntryThatIsAskedForMustBeGood) {
  const Files files{{"home/environments.map",
                     "good: {interpreter: python3}\nbad: {interpretor: x}\nlist: [a]\n"
                     "gone: gone.yml\nwrong: wrong.yml\nbuilt: built.yml\n"},
                    {"home/wrong.yml", "image: X\n"},
                    {"home/built.yml", "build: {path: .}\n"}};
  EXPECT_EQ(error_of(files, "good"), "accepted");
  EXPECT_EQ(error_of(files, "bad"),
            "home/environments.map:2:7: unknown key 'interpretor'; did you mean 'interpreter'?");
  EXPECT_EQ(error_of(files, "list"),
            "home/environments.map:3:1: 'list' must be the path of an environment file, or a "
            "mapping");
  EXPECT_EQ(error_of(files, "gone"), "home/environments.map:4:7: there is no home/gone.yml");
  EXPECT_EQ(error_of(files, "wrong"),
            "home/wrong.yml:1:8: image: 'X' has upper-case letters, which an image's name cannot "
            "have; write x");
  EXPECT_EQ(error_of(files, "built"),
            "home/environments.map:6:1: 'built' builds an image, but a map can only name images of "
            "a registry; push the image, and write its name under 'image'");
}

TEST(EnvironmentMap, TheMapItselfIsChecked) {
  EXPECT_EQ(error_of({{"home/environments.map", "- a\n"}}, "a"),
            "home/environments.map:1:1: a map of environments must be a mapping of keys to values, "
            "not a list");
  EXPECT_EQ(error_of({{"home/environments.map", "a: b\na: c\n"}}, "a"),
            "home/environments.map:2:1: duplicate key 'a'; it was first given on line 1");
}

// ---- images

constexpr const char* kMap = "home/environments.map";

MappedImages images(const std::string& map, const std::set<std::string>& asked) {
  auto found = find_images_in_map(kMap, asked, from(Files{{kMap, map}}));
  EXPECT_TRUE(found) << found.error().message;
  return found ? *std::move(found) : MappedImages{};
}

std::string image_error(const std::string& map, const std::string& asked) {
  const auto found = find_images_in_map(kMap, {asked}, from(Files{{kMap, map}}));
  return found ? "accepted" : found.error().message;
}

TEST(ImageMap, AnImageIsFoundHoweverItIsWritten) {
  const std::string map = "library/python:latest: {interpreter: python3}\n";
  for (const char* name :
       {"python", "python:latest", "library/python", "docker.io/library/python:latest"}) {
    const MappedImages found = images(map, {name});
    ASSERT_EQ(found.count(name), 1u) << name;
    EXPECT_EQ(found.at(name)->definition, EnvironmentDefinition(HostEnvironment{"python3"}));
  }
  for (const char* key : {"python:latest", "library/python", "docker.io/python"})
    EXPECT_EQ(images(std::string(key) + ": none\n", {"python"}).size(), 1u) << key;
  EXPECT_TRUE(images(map, {"python:3.11", "python3", "team/python"}).empty());
  EXPECT_TRUE(images("", {"python"}).empty());
  EXPECT_TRUE(find_images_in_map(kMap, {"python"}, from(Files{}))->empty()) << "there is no map";
}

TEST(ImageMap, NoneIsEachNodesPath) {
  const MappedImages found = images("library/busybox: none\n", {"busybox"});
  ASSERT_EQ(found.count("busybox"), 1u);
  EXPECT_FALSE(found.at("busybox"));
}

TEST(ImageMap, ATargetMayBeAFileAndAnotherImage) {
  const Files files{{kMap, "a/b: b.yml\nlibrary/python: {image: 'r.io/python:3'}\n"},
                    {"home/b.yml", "name: bees\nversion: 2\nrequirements: [six]\n"}};
  const auto found = find_images_in_map(kMap, {"a/b", "python"}, from(files));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->at("a/b")->name, "bees");
  EXPECT_EQ(std::get<DockerEnvironment>(found->at("python")->definition).image, "r.io/python:3");
}

TEST(ImageMap, AKeyOfANameIsNoImages) {
  const std::string map = "python: {interpreter: a}\npython:3.11: {interpreter: b}\n" +
                          std::string(kUrl) + ": {interpreter: c}\n";
  EXPECT_TRUE(images(map, {"python", "python:3.11"}).empty());
  const auto name = find_in_map(kMap, {"python:latest"},
                                from(Files{{kMap, "python:latest: {interpreter: python3}\n"}}));
  ASSERT_TRUE(name);
  EXPECT_FALSE(*name) << "an image is no name";
}

TEST(ImageMap, EveryKeyIsCheckedAndOfTheValuesTheOneThatIsNeeded) {
  EXPECT_EQ(image_error("a: {interpreter: x}\nlibrary/Python: none\n", "busybox"),
            "home/environments.map:2:1: 'library/Python' has upper-case letters, which an image's "
            "name cannot have; write library/python; a key with a '/', or that ends with "
            "':latest', is an image's name");
  EXPECT_EQ(image_error("python:latest: none\nlibrary/python: none\n", "busybox"),
            "home/environments.map:2:1: 'library/python' is the image 'python:latest', which line "
            "1 has already; remove one of the lines");
  const std::string bad =
      "library/python: {interpretor: x}\nlibrary/list: [a]\na/gone: gone.yml\n"
      "a/built: {build: {path: .}}\n";
  EXPECT_EQ(image_error(bad, "busybox"), "accepted");
  EXPECT_EQ(image_error(bad, "python"),
            "home/environments.map:1:18: unknown key 'interpretor'; did you mean 'interpreter'?");
  EXPECT_EQ(image_error(bad, "list"),
            "home/environments.map:2:1: 'library/list' must be the path of an environment file, a "
            "mapping, or none");
  EXPECT_EQ(image_error(bad, "a/gone"), "home/environments.map:3:9: there is no home/gone.yml");
  EXPECT_EQ(image_error(bad, "a/built"),
            "home/environments.map:4:1: 'a/built' builds an image, but a map can only name images "
            "of a registry; push the image, and write its name under 'image'");
}

}  // namespace
}  // namespace lockstep::spec
