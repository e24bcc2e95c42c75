#include "launcher/spec/environment_map.h"

#include <gtest/gtest.h>

#include "tests/unit/launcher/spec/bad_environments.h"

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

}  // namespace
}  // namespace lockstep::spec
