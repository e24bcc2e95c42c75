// Compute targets and their machines as text and as JSON.

#include "launcher/cli/text/targets/compute_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/domain/why/nodes/machines.h"
#include "common/domain/why/nodes/providers.h"
#include "launcher/api/json/compute.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/text/targets/compute_machines.h"
#include "tests/unit/launcher/cli/samples.h"

namespace lockstep::cli {
namespace {

using testing::HasSubstr;

MachineView machine(const std::string& name, const std::string& state,
                    const std::string& node = "") {
  MachineView view;
  view.name = name;
  view.state = state;
  view.node = node;
  view.since = kNoon;
  return view;
}

MachineView failed_machine() {
  MachineView view = machine("vm2", "failed");
  view.failed_step = "connect";
  view.failed_code = "unreachable";
  view.failure = "no ssh server answers at vm2: Connection refused";
  view.failure_data = ProviderSaid{view.failure};
  view.why_data = HostOfTarget{};
  view.failures = 2;
  view.retry_at = kNoon + seconds(70);
  return view;
}

ComputeView sample_target() {
  ComputeView view;
  view.spec.name = view.pool = "lab";
  view.spec.type = ComputeType::virtualmachine;
  view.spec.source = NodeSource::ssh;
  SshHost host;
  host.name = host.address = "vm1";
  host.port = 2222;
  host.user = "ann";
  view.spec.hosts = {host};
  view.created = kNoon;
  view.created_by = "ada";
  view.nodes.total = view.nodes.idle = 1;
  view.machines = {machine("vm1", "joined", "vm1"), failed_machine()};
  return view;
}

TEST(ComputeText, ShowsMachinesAndTheirFailures) {
  EXPECT_EQ(compute_text(sample_target(), kNoon + seconds(60)),
            R"(name:         lab
type:         virtualmachine
node source:  ssh
tunnel:       auto
created:      2030-01-01T12:00:00.000Z by ada
nodes:        1: 1 idle, 0 busy, 0 unavailable
jobs:         0 queued, 0 running

MACHINE  STATE   NODE  SINCE      STEP/ERROR            NEXT TRY
vm1      joined  vm1   1m00s ago
vm2      failed        1m00s ago  connect: unreachable  in 10.0s

vm2: connect failed: no ssh server answers at vm2: Connection refused
  Check its address and port, that it runs, and that a firewall lets the launcher's machine in.
  The launcher tries again by itself at 2030-01-01T12:01:10.000Z, and `lockstep compute update lab` at once; `lockstep compute show lab` shows it. `lockstep compute detach lab --host vm2` gives it up.
)");
}

TEST(ComputeText, ShowsWhyItLeavesAndItsHistory) {
  ComputeView target = sample_target();
  target.machines.clear();
  target.leaving = "deleted by ada";
  target.history = {{kNoon, "", "created by ada"}, {kNoon + seconds(1), "vm1", "created"}};
  const std::string text = compute_text(target, kNoon);
  EXPECT_THAT(text, HasSubstr("\nleaving:      deleted by ada\n"));
  EXPECT_THAT(text, HasSubstr("\n\n2030-01-01T12:00:00.000Z created by ada\n"
                              "2030-01-01T12:00:01.000Z vm1 created\n"));
}

TEST(ComputeText, AnAliasHasNoMachines) {
  ComputeView alias;
  alias.spec.name = "laptop";
  alias.pool = "local";
  EXPECT_EQ(compute_text(alias, kNoon),
            "name:         laptop\ntype:         local (another name of local)\n"
            "nodes:        0: 0 idle, 0 busy, 0 unavailable\njobs:         0 queued, 0 running\n");
}

TEST(ComputeText, SaysHowATargetGetsNodes) {
  ComputeView target = sample_target();
  EXPECT_EQ(how_to_add_nodes(target), "");
  target.spec.hosts.clear();
  EXPECT_THAT(how_to_add_nodes(target), HasSubstr("`lockstep compute attach lab --host"));
  target.spec.source = NodeSource::join;
  EXPECT_THAT(how_to_add_nodes(target), HasSubstr("`lockstep node token --compute lab"));
  target.spec.source = NodeSource::none;
  EXPECT_EQ(how_to_add_nodes(target), "");
}

TEST(MachineText, ClocksThatDifferMakeNoNegativeAge) {
  MachineView future = failed_machine();
  future.retry_at = kNoon;
  EXPECT_THAT(machine_table({future}, kNoon - seconds(5)), HasSubstr(" 0ms ago"));
  EXPECT_THAT(machine_table({future}, kNoon + seconds(5)), HasSubstr("now"));
}

TEST(MachineText, StepsAndStatesAreWords) {
  MachineView working = machine("vm1", "creating");
  EXPECT_EQ(activity(working), "waits for its turn");
  working.step = "copy";
  EXPECT_EQ(activity(working), "copies the bundle");
  working.step = "warp\x1b[31m";  // a provider's own, and hostile
  EXPECT_EQ(activity(working), "warp?[31m");
  EXPECT_EQ(activity(machine("vm1", "joined", "vm1")), "joined as node vm1");
}

ComputeSpec lab() {
  ComputeSpec spec;
  spec.name = "lab";
  spec.source = NodeSource::ssh;
  return spec;
}

TEST(MachineText, EachCodeHasAdvice) {
  for (const char* code :
       {"host_key", "unauthenticated", "unreachable", "unsupported", "no_space", "no_permission",
        "launcher_unreachable", "timed_out", "conflict", "failed"})
    EXPECT_NE(advice_for(code, NodeSource::ssh), "") << code;
  EXPECT_EQ(advice_for("new_code", NodeSource::ssh), "");
  EXPECT_NE(advice_for("no_permission", NodeSource::slurm),
            advice_for("no_permission", NodeSource::ssh));
}

TEST(MachineText, AFailedRemovalNamesForce) {
  MachineView leaving = failed_machine();
  leaving.state = "leaving";
  EXPECT_THAT(machine_failure(lab(), leaving),
              HasSubstr("`lockstep compute detach lab --host vm2 --force` forgets the machine"));
}

TEST(MachineText, NamesTheTargetInItsAdvice) {
  MachineView lonely = failed_machine();
  lonely.failed_code = "launcher_unreachable";
  EXPECT_THAT(machine_failure(lab(), lonely),
              HasSubstr("`lockstep compute update lab --set lockstep.tunnel=always`"));
}

TEST(ComputeJson, HasAllOfTheMachines) {
  const Json json = api::to_json(sample_target());
  EXPECT_EQ(json["machines"], Json::parse(R"([
    {"name": "vm1", "state": "joined", "why": "", "reason_data": null,
     "since": "2030-01-01T12:00:00.000Z", "step": "", "node": "vm1", "about": {},
     "about_reason_data": null, "failure": null},
    {"name": "vm2", "state": "failed", "why": "", "reason_data": {"code": "host_of_target"},
     "since": "2030-01-01T12:00:00.000Z", "step": "", "node": "", "about": {},
     "about_reason_data": null, "failure": {"step": "connect", "code": "unreachable",
     "message": "no ssh server answers at vm2: Connection refused",
     "reason_data": {"code": "provider_said",
                     "said": "no ssh server answers at vm2: Connection refused"},
     "count": 2, "retry_at": "2030-01-01T12:01:10.000Z"}}])"));
  EXPECT_EQ(
      json["lockstep"],
      Json::parse(R"({"node_source": "ssh", "tunnel": "", "settings": {}, "labels": {}, "hosts": [
    {"name": "vm1", "address": "vm1", "user": "ann", "port": 2222, "key": "", "password_secret": "",
     "secret_owner": "", "jump": "", "directory": ""}]})"));
}

TEST(ComputeJson, ProvisioningStateIsAzs) {
  ComputeView target = sample_target();
  const auto state = [&] { return api::to_json(target)["provisioning_state"]; };
  EXPECT_EQ(state(), "Succeeded");  // one of its machines can be used
  target.machines.erase(target.machines.begin());
  EXPECT_EQ(state(), "Failed");
  target.machines.push_back(machine("vm3", "creating"));
  EXPECT_EQ(state(), "Creating");
  target.leaving = "deleted by ada";
  EXPECT_EQ(state(), "Deleting");
  EXPECT_EQ(api::to_json(ComputeView{})["provisioning_state"], "Succeeded");
}

}  // namespace
}  // namespace lockstep::cli
