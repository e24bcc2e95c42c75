// Whatever others wrote, no verb prints what a terminal would obey or not show.

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "common/domain/why/jobs/ends.h"
#include "launcher/api/json/asset.h"
#include "launcher/api/json/cluster.h"
#include "launcher/api/json/compute.h"
#include "launcher/api/json/environment.h"
#include "launcher/api/json/job.h"
#include "launcher/cli/follow/state_lines.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/terminal/terminal.h"
#include "launcher/cli/text/asset_view.h"
#include "launcher/cli/text/environment_view.h"
#include "launcher/cli/text/fabric_view.h"
#include "launcher/cli/text/not_kept_text.h"
#include "launcher/cli/text/pipeline_view.h"
#include "launcher/cli/text/targets/compute_view.h"
#include "launcher/cli/text/targets/quota_view.h"
#include "launcher/cli/text/targets/size_view.h"
#include "launcher/cli/text/targets/usage_view.h"
#include "launcher/cli/text/view_text.h"
#include "tests/support/hostile_text.h"
#include "tests/unit/launcher/cli/pipeline_samples.h"

namespace lockstep::cli {
namespace {

const std::string kBad = test::hostile_text();

void spoil(ExitReport& report) {
  report.node_name = report.message = report.stderr_tail = kBad;
  report.why = told(kBad);
}

JobView bad_job() {
  JobView job = sample_job();
  JobSpec& spec = job.spec;
  spec.name = spec.display_name = spec.experiment_name = spec.description = kBad;
  spec.submitter = spec.run_as = spec.compute = kBad;
  spec.tags = {{kBad, kBad}};
  spec.command = ShellCommand{kBad};
  spec.environment_variables = {{kBad, kBad}};
  spec.inputs = {{kBad, kBad}};
  spec.outputs[0].name = kBad;
  spec.environment = EnvironmentSpec{kBad, kBad, VenvEnvironment{kBad, {kBad}, {kBad}, {kBad}}};
  job.reason = kBad;
  AttemptView& attempt = job.attempts[0];
  attempt.retried = kBad;
  attempt.why = RetriedAfter{told(kBad), told(kBad)};
  PartView& part = attempt.parts[0];
  part.node_name = part.progress = kBad;
  part.limits = {kBad};
  part.outputs[0].name = kBad;
  part.outputs[0].problems = {kBad};
  part.environment = EnvironmentReport{};
  part.environment->platform = part.environment->how = kBad;
  part.not_kept = NotKept{{kBad}, 1, 2, {300}, false, {}};
  part.lost_logs = Bytes{300};
  spoil(*attempt.report);
  spoil(*job.report);
  job.writes = {{kBad, kBad, OutputWrite::State::given_up, 3, kBad, kNoon}};
  job.merged = {{kBad, sha256("tree"), kBad, {kBad}}};
  return job;
}

JobView bad_pipeline() {
  JobView job = failed_pipeline();
  job.spec.name = job.spec.submitter = job.spec.experiment_name = job.reason = kBad;
  PipelineSpec spec = *job.spec.pipeline;
  spec.outputs = {{kBad, kBad, kBad}};
  job.spec.pipeline = spec;
  for (StepView& step : job.steps) {
    step.name = step.reason = step.compute = kBad;
    step.job = JobId(kBad);
    step.after = {kBad};
  }
  spoil(*job.report);
  return job;
}

NodeFabric bad_fabric() {
  NodeFabric fabric;
  fabric.nccl = fabric.ucx = fabric.verbs = fabric.nvidia_driver = kBad;
  FabricInterface interface;
  interface.name = interface.driver = interface.pci = kBad;
  interface.addresses = {{kBad, 24}};
  fabric.interfaces = {interface};
  FabricPort port;
  port.device = port.state = port.link_layer = port.firmware = port.netdev = port.driver = kBad;
  port.gids = {{0, kBad, kBad, kBad}};
  fabric.ports = {port};
  FabricGpu gpu;
  gpu.pci = kBad;
  fabric.gpus = {gpu};
  return fabric;
}

SettingsView bad_settings() {
  SettingsView view;
  view.node_name = kBad;
  view.settings = {{kBad, kBad, SettingSource::user, kBad, kBad}};
  view.elsewhere = {{view.settings.front(), kBad}};
  return view;
}

NodeView bad_node() {
  NodeView node = sample_node();
  node.name = node.reason = node.compute = kBad;
  Inventory& found = node.inventory;
  found.hostname = found.os = found.kernel = found.architecture = found.glibc = found.cuda = kBad;
  found.address = found.network = found.user = found.isolation = found.workdir_mode = kBad;
  found.limitations = {kBad};
  found.container_engine = kBad;
  found.fabric = bad_fabric();
  node.attempts = {{JobId(kBad), 1}};
  node.blobs.lies = 1;
  node.blobs.last_lie = kBad;
  return node;
}

ComputeView bad_compute() {
  ComputeView view;
  view.spec.name = view.pool = view.created_by = view.spec.description = view.leaving = kBad;
  view.spec.type = ComputeType::virtualmachine;
  view.spec.source = NodeSource::ssh;
  SshHost host;
  host.name = host.address = host.user = kBad;
  view.spec.hosts = {host};
  MachineView machine;
  machine.name = machine.why = machine.step = machine.node = kBad;
  machine.state = "failed";
  machine.about = {{kBad, kBad}};
  machine.failed_step = machine.failed_code = machine.failure = kBad;
  machine.failures = 1;
  view.machines = {machine};
  view.history = {{kNoon, kBad, kBad, {}}};
  return view;
}

EnvironmentView bad_environment() {
  EnvironmentView view;
  const VenvEnvironment venv{kBad, {kBad}, {kBad}, {kBad}};
  view.environment = {{kBad, kBad, venv}, kBad, {{kBad, kBad}}};
  view.created_by = view.project = kBad;
  view.definition = digest_of(venv);
  view.locks = {{{kBad, sha256("lock")}, kNoon, kBad, JobId(kBad)}};
  view.last_job = JobId(kBad);
  return view;
}

AssetView bad_asset() {
  AssetView view;
  view.asset.name = view.asset.version = view.asset.path = view.asset.file = kBad;
  view.asset.description = kBad;
  view.asset.tags = {{kBad, kBad}};
  view.asset.tree = sha256("tree");
  return view;
}

TEST(HostileText, IsInNoTableAndNoParagraph) {
  const JobView job = bad_job(), pipeline = bad_pipeline();
  ExplainView explain{job, {kBad}, RerunView{JobId(kBad), {{kBad, {}, {}, {}}}}};
  LauncherStatus status;
  status.version = status.endpoint = status.home = status.low_reason = kBad;
  NodeUsage usage;
  usage.name = kBad;
  JobUsage job_usage;
  job_usage.job = JobId(kBad);
  job_usage.submitter = kBad;
  job_usage.parts.resize(2);
  for (PartUsage& part : job_usage.parts) part.node_name = kBad;
  QuotaView quota;
  quota.holder.name = kBad;
  quota.lines = {{QuotaLimit::queued_jobs, 5, false, 1}};
  SizeView size;
  size.size.name = size.size.series = size.size.category = size.size.gpu_name = kBad;
  size.targets = {kBad};
  SettingsView absent;
  absent.absent = kBad;
  const Instant now = kNoon + seconds(60);
  const std::pair<const char*, std::string> shown[] = {
      {"job list", job_table({job, pipeline}, now)},
      {"job list, narrow", job_table({job, pipeline}, now, 60)},
      {"job show", job_text(job, now)},
      {"job show of a pipeline", job_text(pipeline, now)},
      {"pipeline", pipeline_text(pipeline, now, {})},
      {"steps", other_steps_report(pipeline)},
      {"job explain", explain_text(explain)},
      {"job explain --env", settings_text(kBad, bad_settings())},
      {"job explain --env, none", settings_text(kBad, absent)},
      {"how it failed", failure_report(job)},
      {"how a pipeline failed", failure_report(pipeline)},
      {"node list", node_table({bad_node()})},
      {"node show", node_text(bad_node(), now)},
      {"node show --fabric", fabric_text(bad_node())},
      {"status", status_text(status, now)},
      {"compute list", compute_table({bad_compute()})},
      {"compute show", compute_text(bad_compute(), now)},
      {"environment list", environment_table({bad_environment()})},
      {"environment show", environment_text(bad_environment())},
      {"environment of a job", environment_paragraph(job)},
      {"data list", asset_table(AssetKind::data, {bad_asset()})},
      {"data show", asset_text(bad_asset())},
      {"quota", quotas_text({quota}, true)},
      {"size list", size_table({size})},
      {"size show", size_text(size)},
      {"top, nodes", node_usage_table({usage}, {})},
      {"top, jobs", job_usage_table({job_usage}, 100)},
      {"state", state_text(job)},
  };
  for (const auto& [what, text] : shown)
    EXPECT_EQ(test::not_for_a_terminal(text), "") << what << ":\n" << text;
}

TEST(HostileText, IsEscapedInJsonAndYamlAndMeansTheSame) {
  const Json all[] = {api::to_json(bad_job()),         api::to_json(bad_pipeline()),
                      api::to_json(bad_node()),        api::to_json(bad_compute()),
                      api::to_json(bad_environment()), api::to_json(bad_asset())};
  for (const Json& json : all) {
    const std::string text = json_text(json);
    EXPECT_EQ(test::not_for_a_terminal(text), "");
    const Json plain = Json::parse(json.dump(-1, ' ', false, Json::error_handler_t::replace));
    EXPECT_EQ(Json::parse(text), plain);
    EXPECT_EQ(Json::parse(json_line(json)), plain);
    EXPECT_EQ(json_line(json).find('\n'), std::string::npos);
    for (const std::string& other : {yaml_text(json), tsv_text(json), records_text(json)})
      EXPECT_EQ(test::not_for_a_terminal(other), "") << other;
  }
}

// What a terminal gets when `write` writes to both streams of a Terminal on it.
template <typename Write>
std::string on_a_terminal(Write write) {
  int master = -1;
  const pid_t child = ::forkpty(&master, nullptr, nullptr, nullptr);
  if (child == 0) {
    ::setenv("TERM", "xterm", 1);
    {
      Terminal terminal;
      write(terminal);
    }
    ::_exit(0);
  }
  std::string seen;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(master, buffer, sizeof buffer)) > 0;)
    seen.append(buffer, static_cast<std::size_t>(got));
  ::close(master);
  ::waitpid(child, nullptr, 0);
  std::erase(seen, '\r');  // the line discipline's
  return seen;
}

TEST(HostileText, ReachesNoTerminalByAnyWayOfWriting) {
  const std::string seen = on_a_terminal([](Terminal& terminal) {
    terminal.out(kBad + "\n");
    terminal.err(kBad + "\n");
    terminal.print_line(kBad);
    terminal.write(LogStream::out, kBad + "\n");
    terminal.write(LogStream::err, "\x1b[32mgreen\n");
  });
  EXPECT_EQ(test::not_for_a_terminal(seen, true), "");
  EXPECT_NE(seen.find("\x1b[32mgreen\x1b[0m\n"), std::string::npos) << "colours are ours";
  EXPECT_EQ(
      on_a_terminal([](Terminal& terminal) { terminal.write_raw(LogStream::out, "\x1b[2Jx"); }),
      "\x1b[2Jx");
}

}  // namespace
}  // namespace lockstep::cli
