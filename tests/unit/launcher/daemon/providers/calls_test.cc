#include "launcher/daemon/providers/calls.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/domain/targets/provider_settings.h"
#include "common/domain/why/nodes/providers.h"
#include "launcher/words/why.h"
#include "tests/unit/launcher/daemon/providers/provider_world.h"

namespace lockstep::launcher {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using World = ProviderWorld;

TEST(ProviderCalls, CreateBeginsWhenItsTokensAreDurable) {
  World world("good");
  world.calls().perform(CallProvider{7, "vms", ProviderVerb::create, {"vm1", "vm2"}});
  ASSERT_EQ(world.tokens.size(), 1u);
  EXPECT_EQ(world.tokens[0].call, 7u);
  EXPECT_EQ(world.tokens[0].secret_hashes.size(), 2u);
  EXPECT_EQ(world.tokens[0].secret_hashes.at("vm1"), sha256("s"));
  EXPECT_THAT(world.calls().pids(), IsEmpty());
  world.calls().perform(StartProvider{7});
  EXPECT_EQ(world.calls().pids().size(), 1u);
  ASSERT_TRUE(world.run_until_ended());
  EXPECT_THAT(world.told(),
              ElementsAre("vm1 step connect", "vm1 runs architecture=x86_64 tunnel=true",
                          "vm2 error in connect (unreachable): no route"));
  EXPECT_EQ(world.ended[0].call, 7u);
  EXPECT_EQ(world.ended[0].fault, MachineFault::failed);
  EXPECT_TRUE(world.ended[0].why.is<ProviderSaidNothing>());
  EXPECT_THAT(world.calls().pids(), IsEmpty());
  EXPECT_THAT(world.log(), AllOf(HasSubstr("create - begins for vm1, vm2\n"),
                                 HasSubstr("create vm1 step connect\n")));
}

TEST(ProviderCalls, AMachineThatIsAskedForAgainHasItsTokenAlreadyWhileThatIsOfUse) {
  World world("good");
  world.calls().perform(CallProvider{1, "vms", ProviderVerb::create, {"vm1"}});
  EXPECT_EQ(world.made_tokens, 1);
  world.tokens_are_of_use = true;
  world.calls().perform(CallProvider{2, "vms", ProviderVerb::create, {"vm1"}});
  EXPECT_EQ(world.made_tokens, 1);
  world.calls().perform(CallProvider{3, "vms", ProviderVerb::create, {"vm2"}});
  EXPECT_EQ(world.made_tokens, 2);
  world.tokens_are_of_use = false;  // vm1 has joined, or was given up
  world.calls().perform(CallProvider{4, "vms", ProviderVerb::create, {"vm1"}});
  EXPECT_EQ(world.made_tokens, 3);
  EXPECT_EQ(world.tokens.size(), 4u) << "each call is told to the core";
}

TEST(ProviderCalls, TheRequestHasWhatTheContractNames) {
  World world("silent");
  world.call(ProviderVerb::create, 1, {"vm2"});
  ASSERT_TRUE(world.run_until_ended());
  const auto request = nlohmann::json::parse(world.file("create.request"), nullptr, false);
  const auto expected = nlohmann::json::parse(R"({
    "contract": 1, "launcher": "abc123", "target": "vms", "bundle": "/bundle.tar.gz",
    "endpoints": {"control": "tcp://l:1", "bulk": "tcp://l:2", "join": "tcp://l:3",
                  "local": {"control": "a", "bulk": "b", "join": "c"}},
    "settings": {"tunnel": "auto", "hosts": [
      {"name": "vm2", "address": "10.0.0.2", "user": "ann", "port": 2222,
       "password": "hunter2secret", "directory": "/data/lockstep"}]},
    "machines": [{"name": "vm2", "token": "lockstep-token-1.abc_DEF"}]})");
  auto without_state = request;
  without_state.erase("state");
  EXPECT_EQ(without_state, expected);
  const std::string state = request["state"];
  EXPECT_EQ(state, world.home.compute_state("vms"));
  struct stat info {};
  ASSERT_EQ(::stat(state.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat(world.home.compute_log("vms").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(ProviderCalls, RemoveBeginsAtOnceAndNeedsNoBundle) {
  World world("silent");
  world.bundle = "";
  world.call(ProviderVerb::remove, 1, {"vm1"});
  ASSERT_TRUE(world.run_until_ended());
  EXPECT_THAT(world.tokens, IsEmpty());
  const auto request = nlohmann::json::parse(world.file("remove.request"), nullptr, false);
  EXPECT_EQ(request["machines"], nlohmann::json::parse(R"([{"name": "vm1"}])"));
}

TEST(ProviderCalls, WithoutABundleEachMachineFailsBeforeATokenIsMade) {
  World world("good");
  world.bundle = "";
  world.calls().perform(CallProvider{1, "vms", ProviderVerb::create, {"vm1", "vm2"}});
  EXPECT_THAT(world.tokens, IsEmpty());
  EXPECT_THAT(world.told(), ElementsAre("vm1 error in prepare (failed): no bundle",
                                        "vm2 error in prepare (failed): no bundle"));
  EXPECT_EQ(world.ended.size(), 1u);
  EXPECT_THAT(world.file("pids"), IsEmpty());
}

TEST(ProviderCalls, AMissingSecretFailsItsMachineAlone) {
  World world("good");
  world.password.reset();
  world.call(ProviderVerb::create);
  ASSERT_TRUE(world.run_until_ended());
  ASSERT_FALSE(world.events.empty());
  EXPECT_EQ(world.events[0].event.machine, "vm2");
  EXPECT_EQ(world.events[0].event.fault, MachineFault::unauthenticated);
  ASSERT_TRUE(world.events[0].event.why.is<PasswordNotSet>());
  EXPECT_EQ(world.events[0].event.why.as<PasswordNotSet>()->secret, "pw");
  const auto request = nlohmann::json::parse(world.file("create.request"), nullptr, false);
  EXPECT_EQ(request["machines"].size(), 1u);
  EXPECT_EQ(request["settings"]["hosts"].size(), 1u);
}

TEST(ProviderCalls, AContainerOrPodHasTheSizeOfItsTarget) {
  const auto settings_of = [](NodeSource source, ProviderSettings settings) {
    World world("good");
    world.size.name = world.spec.size = "lab-small";
    world.size.vcpus = 2;
    world.size.memory = Bytes{1u << 30};
    world.size.gpus = 1;
    world.spec.source = source;
    world.spec.settings = std::move(settings);
    world.call(ProviderVerb::create);
    EXPECT_TRUE(world.run_until_ended());
    return nlohmann::json::parse(world.file("create.request"), nullptr, false)["settings"];
  };
  const auto container = settings_of(NodeSource::docker, {{"image", {"a"}}, {"cpus", {"1"}}});
  EXPECT_EQ(container.dump(),
            R"({"cpus":1.0,"image":"a","size":{"cpus":2,"memory":1073741824,"name":"lab-small"}})");
  const auto pod = settings_of(NodeSource::kubernetes, {{"image", {"a"}}, {"cpus", {"1"}}});
  EXPECT_EQ(pod.dump(), R"({"cpus":1.0,"gpus":1.0,"image":"a","memory":1073741824})");
}

TEST(ProviderCalls, APasswordThatIsNoLineFailsItsMachine) {
  for (const char* password : {"two\nlines", "\xff\xfe", "with\rreturn"}) {
    World world("good");
    world.password = password;
    world.call(ProviderVerb::create, 1, {"vm2"});
    ASSERT_EQ(world.ended.size(), 1u);
    EXPECT_EQ(world.events[0].event.fault, MachineFault::unauthenticated);
    EXPECT_THAT(words::text_of(world.events[0].event.why), Not(HasSubstr(password)));
  }
}

TEST(ProviderCalls, SecretsAreInTheInputAlone) {
  World world("tells");
  world.call(ProviderVerb::create);
  ASSERT_TRUE(world.run_until_ended());
  const auto has_none = AllOf(Not(HasSubstr(kPassword)), Not(HasSubstr("lockstep-token-1")));
  EXPECT_THAT(world.file("create.request"), HasSubstr(kPassword));
  EXPECT_THAT(world.file("create.words"), AllOf(HasSubstr("create"), has_none));
  EXPECT_THAT(world.file("create.environment"), AllOf(HasSubstr("PATH="), has_none));
  // Also not when the provider prints them.
  EXPECT_THAT(world.log(), AllOf(HasSubstr("[password]"), HasSubstr("[token]"), has_none));
  EXPECT_EQ(world.events.at(0).event.why, Why(ProviderSaid{"[password] [token]"}));
}

TEST(ProviderCalls, AMachineOrTargetThatIsGoneFails) {
  World world("good");
  world.call(ProviderVerb::remove, 1, {"vm5"});
  world.calls().perform(CallProvider{2, "nothing", ProviderVerb::remove, {"vm1"}});
  EXPECT_THAT(world.told(),
              ElementsAre("vm5 error in prepare (failed): target 'vms' has no host 'vm5'",
                          "vm1 error in prepare (failed): there is no target 'nothing' any more"));
  EXPECT_EQ(world.ended.size(), 2u);
}

TEST(ProviderCalls, TheNodeBundleIsLookedForInNamedPlaces) {
  World world("good");
  const auto missing = find_node_bundle("/nowhere/bundle.tar.gz");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message,
              AllOf(HasSubstr("/nowhere/bundle.tar.gz"), HasSubstr("scripts/bundle"),
                    HasSubstr("--node-bundle")));
  EXPECT_EQ(*find_node_bundle(FAKE_PROVIDER), FAKE_PROVIDER);
  const auto nowhere = find_node_bundle("");
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().message, HasSubstr("/../share/lockstep/lockstep-node-"));
}

// ---- what a provider prints ---------------------------------------------------------------------

TEST(ProviderCalls, LinesThatAreNoEventsGoToTheLog) {
  World world("garbage");
  world.call(ProviderVerb::create);
  ASSERT_TRUE(world.run_until_ended());
  EXPECT_THAT(world.told(), ElementsAre("vm1 runs architecture=x86_64 tunnel=true"));
  EXPECT_THAT(world.log(), AllOf(HasSubstr("is not an event: it is not a JSON object: what?"),
                                 HasSubstr("is not an event: its kind 'party' is unknown")));
}

TEST(ProviderCalls, OnlyMachinesOfTheCallAreBelieved) {
  World world("others");
  world.call(ProviderVerb::create);
  ASSERT_TRUE(world.run_until_ended());
  EXPECT_THAT(world.told(), ElementsAre("vm1 runs architecture=x86_64 tunnel=true"));
  EXPECT_THAT(world.log(), HasSubstr("ignored, it is not about a machine of this call"));
}

TEST(ProviderCalls, ALineMayComeInPiecesAndWithoutItsEnd) {
  World world("halves");
  world.call(ProviderVerb::create);
  ASSERT_TRUE(world.run_until_ended());
  EXPECT_THAT(world.told(), ElementsAre("vm1 step a", "vm1 step b"));
}

TEST(ProviderCalls, AnEndlessLineEndsTheCall) {
  World world("endless");
  world.call(ProviderVerb::create);
  ASSERT_TRUE(world.run_until_ended());
  EXPECT_THAT(world.told(), ElementsAre("vm1 step connect"));
  EXPECT_EQ(world.ended[0].fault, MachineFault::failed);
  EXPECT_EQ(world.ended[0].why, Why(ProviderLineTooLong{65'536}));
  EXPECT_THAT(world.still_there(), IsEmpty());
}

TEST(ProviderCalls, TooManyLinesEndTheCall) {
  World world("many");
  world.limits.lines = 100;
  world.call(ProviderVerb::create);
  ASSERT_TRUE(world.run_until_ended());
  EXPECT_EQ(world.events.size(), 100u);
  EXPECT_EQ(world.ended[0].why, Why(ProviderPrintedTooMuch{100}));
  EXPECT_THAT(world.still_there(), IsEmpty());
}

TEST(ProviderCalls, MuchOnStandardErrorDoesNotHoldItUp) {
  World world("noisy");
  world.call(ProviderVerb::create, 1, {"vm1"});
  ASSERT_TRUE(world.run_until_ended());
  EXPECT_THAT(world.told(), ElementsAre("vm1 runs architecture=x86_64 tunnel=true"));
  EXPECT_LE(world.log().size(), kMaxComputeLogBytes);
}

// ---- how a provider ends ------------------------------------------------------------------------

TEST(ProviderCalls, ACrashIsTold) {
  World world("crash");
  world.call(ProviderVerb::create);
  ASSERT_TRUE(world.run_until_ended());
  EXPECT_EQ(world.events.size(), 1u);
  ASSERT_TRUE(world.ended[0].why.is<ProviderKilled>());
  EXPECT_EQ(world.ended[0].why.as<ProviderKilled>()->signal, 11);
}

TEST(ProviderCalls, ARefusalIsItsLastLine) {
  World world("refuses");
  world.call(ProviderVerb::create);
  ASSERT_TRUE(world.run_until_ended());
  EXPECT_EQ(world.ended[0].why, Why(ProviderSaid{"the request has no sense"}));
  EXPECT_THAT(world.log(), HasSubstr("create - first\n"));
}

TEST(ProviderCalls, AnotherExitCodeIsTold) {
  World world("odd");
  world.call(ProviderVerb::create);
  ASSERT_TRUE(world.run_until_ended());
  EXPECT_EQ(world.ended[0].why, Why(ProviderExited{9, "not today"}));
}

TEST(ProviderCalls, AProgramThatIsNotThereIsTold) {
  World world("good");
  world.program = {"/nowhere/provider"};
  world.call(ProviderVerb::create);
  ASSERT_TRUE(world.run_until_ended());
  EXPECT_THAT(words::text_of(world.ended[0].why),
              HasSubstr("/nowhere/provider: No such file or directory"));
}

TEST(ProviderCalls, ATimeLimitEndsIt) {
  World world("slow");
  world.limits.create = milliseconds(150);
  world.call(ProviderVerb::create);
  ASSERT_TRUE(world.run_until_ended());
  EXPECT_EQ(world.ended[0].fault, MachineFault::timed_out);
  EXPECT_EQ(world.ended[0].why, Why(ProviderTooSlow{milliseconds(150)}));
  EXPECT_THAT(world.still_there(), IsEmpty());
}

TEST(ProviderCalls, OneThatIgnoresSigtermIsKilled) {
  World world("stubborn");
  world.limits.remove = seconds(1);  // by then it ignores the signal
  const Instant begin = world.clock.now();
  world.call(ProviderVerb::remove);
  ASSERT_TRUE(world.run_until_ended());
  EXPECT_GE(world.clock.now() - begin, milliseconds(1'200));
  EXPECT_EQ(world.ended[0].fault, MachineFault::timed_out);
  EXPECT_THAT(world.still_there(), IsEmpty());
}

TEST(ProviderCalls, AChildThatHoldsThePipeDoesNotHoldUpTheEnd) {
  World world("fork");
  world.call(ProviderVerb::create);
  ASSERT_TRUE(world.run_until_ended());
  EXPECT_EQ(world.events.size(), 1u);
  EXPECT_TRUE(world.run_until([&] { return world.still_there().empty(); }));
}

TEST(ProviderCalls, NoProviderOutlivesTheDaemon) {
  World world("stubborn");
  for (std::uint64_t id = 1; id <= 3; ++id) world.call(ProviderVerb::remove, id);
  world.calls().perform(HoldMachines{"vms", {"vm1"}});
  ASSERT_TRUE(world.run_until([&] { return world.still_there().size() == 4; }));
  world.end();
  EXPECT_THAT(world.still_there(), IsEmpty());
  EXPECT_THAT(world.ended, IsEmpty());
}

TEST(ProviderCalls, ManyCallsWaitInOrder) {
  World world("turn");
  world.limits.at_once = 2;
  for (std::uint64_t id = 1; id <= 5; ++id) world.call(ProviderVerb::remove, id);
  std::size_t most = 0;
  ASSERT_TRUE(world.run_until([&] {
    most = std::max(most, world.calls().pids().size());
    return world.ended.size() == 5;
  }));
  EXPECT_EQ(most, 2u);
  std::vector<std::uint64_t> order;
  for (const auto& ended : world.ended) order.push_back(ended.call);
  std::sort(order.begin(), order.begin() + 2);
  EXPECT_EQ(order[0], 1u);
  EXPECT_EQ(order[4], 5u);
}

TEST(ProviderCalls, ACallThatIsAskedForTwiceRunsOnce) {
  World world("turn");
  for (int i = 0; i < 2; ++i) world.call(ProviderVerb::create);
  ASSERT_TRUE(world.run_until_ended());
  EXPECT_EQ(world.tokens.size(), 1u);
  EXPECT_EQ(world.ended.size(), 1u);
  EXPECT_THAT(world.calls().pids(), IsEmpty());
}

}  // namespace
}  // namespace lockstep::launcher
