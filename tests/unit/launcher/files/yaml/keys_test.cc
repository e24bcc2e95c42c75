#include "launcher/files/yaml/keys.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "launcher/files/job_file.h"
#include "launcher/files/yaml/key_notes.h"

namespace lockstep::spec {
namespace {

TEST(Keys, EachStandsOnceAndInsideAKnownSection) {
  std::set<std::string_view> seen;
  for (const auto& key : known_keys()) {
    EXPECT_TRUE(seen.insert(key.path).second) << key.path << " stands twice";
    const auto dot = key.path.rfind('.');
    if (dot == std::string_view::npos) continue;
    std::string_view section = key.path.substr(0, dot);
    if (section.ends_with(".*")) section.remove_suffix(2);
    EXPECT_NE(find_key(section), nullptr) << key.path;
  }
}

// Every key that is recognised and not there yet is refused by its own name, wherever it stands.
TEST(Keys, EachThatIsNotSupportedYetIsRefusedByName) {
  int refused = 0;
  for (const auto& key : known_keys()) {
    if (key.shape != Shape::not_yet) continue;
    std::string path(key.path);
    if (const auto star = path.find('*'); star != std::string::npos) path[star] = 'x';
    const auto job = parse_job("job.yml", "command: x\n", {path + "=1"});
    ASSERT_FALSE(job) << path;
    const std::string message = fmt::format("--set {0}=1: '{0}' is not supported yet", path);
    const std::string_view instead = key.instead.empty() ? note_of(key.path) : key.instead;
    EXPECT_EQ(job.error().message,
              instead.empty() ? message : fmt::format("{}; {}", message, instead));
    EXPECT_EQ(job.error().code, ErrorCode::unsupported);
    ++refused;
  }
  EXPECT_GT(refused, 40);
}

TEST(Keys, TheNearestKeyIsFoundOnlyWhenItIsNear) {
  EXPECT_EQ(nearest_key("", "environment_varables"), "environment_variables");
  EXPECT_EQ(nearest_key("", "Command"), "command");
  EXPECT_EQ(nearest_key("", "display-name"), "display_name");
  EXPECT_EQ(nearest_key("distribution", "process_count"), "");
  EXPECT_EQ(nearest_key("", "process_count_per_instance"),
            "distribution.process_count_per_instance");
  EXPECT_EQ(nearest_key("", "timeout"), "limits.timeout");
  EXPECT_EQ(nearest_key("", "xyz"), "");
  EXPECT_EQ(nearest_key("", std::string(100'000, 'e')), "");
}

}  // namespace
}  // namespace lockstep::spec
