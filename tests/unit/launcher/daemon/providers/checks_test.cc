#include "launcher/daemon/providers/checks.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/unit/launcher/daemon/providers/provider_world.h"

namespace lockstep::launcher {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

// The check of a target that does not exist yet.
class CheckWorld : public ProviderWorld {
 public:
  explicit CheckWorld(const std::string& knob) : ProviderWorld(knob) {
    fresh.name = "fresh";
    fresh.type = ComputeType::amlcompute;
    fresh.source = NodeSource::docker;
    fresh.settings["image"] = {"a"};
    limits.check.grace = milliseconds(200);
  }
  // Why not, or "" if the provider agrees.
  std::string check() {
    calls().perform(CheckProvider{5, fresh});
    EXPECT_TRUE(run_until([&] { return !checked.empty(); }));
    if (checked.empty()) return "no answer";
    EXPECT_EQ(checked[0].check, 5u);
    return checked[0].why_not;
  }
  ComputeSpec fresh;
};

TEST(ProviderChecks, AProviderThatSaysNothingAgrees) {
  CheckWorld world("silent");
  EXPECT_EQ(world.check(), "");
  const auto request = nlohmann::json::parse(world.file("check.request"), nullptr, false);
  EXPECT_EQ(request["target"], "fresh");
  EXPECT_EQ(request["settings"].dump(), R"({"image":"a"})");
  EXPECT_THAT(request["machines"], IsEmpty());
}

TEST(ProviderChecks, NothingOfItStays) {
  CheckWorld world("bad-settings");
  world.check();
  ASSERT_TRUE(world.run_until([&] { return io::list_directory(world.home.compute())->empty(); }));
}

TEST(ProviderChecks, ItsErrorsAreTheReason) {
  CheckWorld world("bad-settings");
  EXPECT_EQ(world.check(),
            "the settings of target 'fresh' do not work: the check of node source docker says: "
            "unsupported: there is no image a; failed: nor b");
}

TEST(ProviderChecks, AProviderThatFailsHasNotAgreed) {
  EXPECT_THAT(CheckWorld("refuses").check(), HasSubstr("the request has no sense"));
  EXPECT_THAT(CheckWorld("odd").check(), HasSubstr("exited with 9: not today"));
  CheckWorld missing("silent");
  missing.program = {"/nowhere/provider"};
  EXPECT_THAT(missing.check(), HasSubstr("/nowhere/provider"));
}

TEST(ProviderChecks, AProviderThatHangsIsEnded) {
  CheckWorld world("stubborn");
  world.limits.check.time = milliseconds(300);
  EXPECT_THAT(world.check(), HasSubstr("it took longer than"));
  EXPECT_THAT(world.still_there(), IsEmpty());
}

TEST(ProviderChecks, ATargetThatExistsKeepsItsDirectory) {
  CheckWorld world("silent");
  world.fresh.name = world.spec.name;
  EXPECT_EQ(world.check(), "");
  EXPECT_TRUE(io::exists(world.home.compute_state(world.spec.name)));
}

}  // namespace
}  // namespace lockstep::launcher
