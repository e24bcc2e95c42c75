// Prints all that launcher/api/json makes, one {"kind", "value"} a line: of views in which every
// field is filled, of empty ones, of each kind of environment and of each word of an enum.
// tests/e2e/test_json_schema.py holds them against docs/schema.

#include <cmath>
#include <iostream>
#include <set>

#include "launcher/api/json/access.h"
#include "launcher/api/json/asset.h"
#include "launcher/api/json/cluster.h"
#include "launcher/api/json/compute.h"
#include "launcher/api/json/datastore.h"
#include "launcher/api/json/environment.h"
#include "launcher/api/json/found.h"
#include "launcher/api/json/job.h"
#include "launcher/api/json/metrics.h"
#include "launcher/api/json/size.h"
#include "launcher/api/json/usage.h"
#include "launcher/api/json/value.h"
#include "tests/unit/common/wire/fill.h"

namespace lockstep::test {
namespace {

using api::Json;

void print(const char* kind, const Json& value) {
  const Json line{{"kind", kind}, {"value", value}};
  std::cout << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

template <typename View>
View filled() {
  View view;
  Filler().fill(view);
  return view;
}

// Both as it is made alone and in a list.
template <typename View>
void print_view(const std::string& kind, const View& view) {
  print(kind.c_str(), api::to_json(view));
  print((kind + "-list").c_str(), api::to_json(std::vector<View>{view, View{}}));
}

// All values of an enum, also those that are added later: to_string() knows their words.
template <typename Enum>
std::vector<Enum> all_of() {
  constexpr int kMore = 64;  // than any of our enums has
  std::vector<Enum> values;
  std::set<std::string_view> words;
  for (int number = 0; number < kMore; ++number) {
    const auto value = static_cast<Enum>(number);
    const std::string_view word = to_string(value);
    if (word != "?" && words.insert(word).second) values.push_back(value);
  }
  return values;
}

std::vector<EnvironmentDefinition> definitions() {
  DockerEnvironment built = filled<DockerEnvironment>(), plain = built, empty;
  built.image.clear();
  plain.build.reset();
  plain.conda.reset();
  return {filled<HostEnvironment>(), filled<VenvEnvironment>(), filled<CondaEnvironment>(),
          CondaEnvironment{},        HostEnvironment{},         VenvEnvironment{},
          std::move(built),          std::move(plain),          std::move(empty)};
}

void print_environments() {
  for (const EnvironmentDefinition& definition : definitions()) {
    auto view = filled<EnvironmentView>();
    view.environment.spec.definition = definition;
    print("environment", api::to_json(view));
    print("job-environment", api::to_json(view.environment.spec));
    auto job = filled<JobView>();
    job.spec.environment = view.environment.spec;
    print("job", api::to_json(job));
    print("explanation",
          api::to_json(ExplainView{job, {"it fits"}, filled<RerunView>(), filled<SettingsView>()}));
  }
  for (const auto step : {EnvironmentReport::Step::wants_lock, EnvironmentReport::Step::solved,
                          EnvironmentReport::Step::ready, EnvironmentReport::Step::not_solved}) {
    auto report = filled<EnvironmentReport>();
    report.step = step;
    print("environment-report", api::to_json(report));
  }
  print("environment-report", api::to_json(EnvironmentReport{}));
  print("environment-list", api::to_json(std::vector{filled<EnvironmentView>()}));
  print("environment", api::to_json(EnvironmentView{}));
  print("asset-list", api::to_json(std::vector{filled<AssetView>()}));
  print("asset", api::to_json(filled<AssetView>()));
  print("asset", api::to_json(AssetView{}));
}

void print_datastores() {
  auto view = filled<DatastoreView>();
  for (const auto kind : all_of<DatastoreKind>()) {
    view.kind = kind;
    print("datastore", api::to_json(view));
  }
  print("datastore", api::to_json(DatastoreView{}));
  print("datastore-list", api::to_json(std::vector{view}));
}

void print_pipelines() {
  auto job = filled<JobView>();
  job.spec = test::pipeline_job();
  print("job", api::to_json(job));
  for (const auto phase : all_of<StepPhase>()) {
    job.steps.front().phase = phase;
    print("job", api::to_json(job));
  }
}

void print_findings() {
  const words::About about{"train", [](int) { return "n1"; }};
  auto found = filled<Found>();
  for (const auto kind : all_of<FoundKind>()) {
    found.kind = kind;
    for (const auto verdict : all_of<FoundVerdict>()) {
      found.verdict = verdict;
      print("found", api::found_json(found, about));
    }
  }
  print("found", api::found_json(Found{}, about));
  auto job = filled<JobView>();
  for (const auto trouble : all_of<PathTrouble>()) {
    job.attempts.front().probe->failures.front().trouble = trouble;
    print("job", api::to_json(job));
  }
  for (const auto source : all_of<SettingSource>()) {
    job.attempts.front().parts.front().settings.front().source = source;
    print("job", api::to_json(job));
  }
  for (const auto on : all_of<OnHang>()) {
    job.spec.hang.on = on;
    print("job", api::to_json(job));
  }
  for (const auto core : all_of<CoreFile>()) {
    job.spec.core = core;
    print("job", api::to_json(job));
  }
}

void print_jobs() {
  print_pipelines();
  print_findings();
  print_datastores();
  auto job = filled<JobView>();
  for (const auto state :
       {OutputWrite::State::waiting, OutputWrite::State::written, OutputWrite::State::given_up}) {
    job.writes.front().output = job.merged.front().name = job.spec.outputs.front().name;
    job.writes.front().state = state;
    print("job", api::to_json(job));
  }
  for (const auto status : all_of<JobStatus>()) {
    job.status = status;
    print("job", api::to_json(job));
  }
  for (const auto state : all_of<PartState>()) {
    job.attempts.front().parts.front().state = state;
    print("job", api::to_json(job));
  }
  for (const auto kind : {OutputKind::outputs, OutputKind::logs, OutputKind::named,
                          OutputKind::checkpoint, OutputKind::kept}) {
    job.attempts.front().parts.front().outputs.front().kind = kind;
    print("job", api::to_json(job));
  }
  for (const auto kind : all_of<Distribution::Kind>()) {
    job.spec.distribution.kind = kind;
    print("job", api::to_json(job));
  }
  for (const auto binding : all_of<Binding>()) {
    job.spec.binding = binding;
    print("job", api::to_json(job));
  }
  job.spec.retry.on = all_of<RetryOn>();
  for (const auto on_lost : all_of<OnLost>()) {
    job.spec.retry.on_lost = on_lost;
    print("job", api::to_json(job));
  }
  for (const auto type : all_of<OutputType>()) {
    job.spec.outputs.front().type = type;
    for (const auto mode : all_of<OutputMode>()) {
      job.spec.outputs.front().mode = mode;
      print("job", api::to_json(job));
    }
  }
  for (const auto cause : all_of<Cause>()) {
    auto report = filled<ExitReport>();
    report.cause = cause;
    print("exit-report", api::to_json(report));
  }
  print_view("job", job);
  Json with_metrics = api::to_json(job);
  with_metrics["metrics"] = api::metrics_with_trends(
      {filled<metrics::MetricSummary>(), metrics::MetricSummary{}}, {{"", {1.5, NAN}}});
  print("job", with_metrics);
  print_view("event", filled<JobEvent>());
  print("exit-report", api::to_json(ExitReport{}));
  print("explanation", api::to_json(ExplainView{}));
  print("deletion", api::to_json(filled<JobsDeleted>()));
  print("deletion", api::to_json(JobsDeleted{}));
  print("validation", api::to_json("job.yml", filled<JobFileChecked>()));
  print("validation", api::to_json("job.yml", JobFileChecked{}));
  print("message", api::to_json(filled<Done>()));
}

void print_cluster() {
  print_view("node", filled<NodeView>());
  for (const auto liveness : all_of<Liveness>()) {
    auto node = filled<NodeView>();
    node.liveness = liveness;
    print("node", api::to_json(node));
  }
  for (const auto& use : {filled<MeasuredNode>(), MeasuredNode{}})
    print("node-use", api::to_json(use));
  for (const auto& use : {filled<MeasuredPart>(), MeasuredPart{}})
    print("part-use", api::to_json(use));
  for (const auto& usage : {filled<UsageReply>(), UsageReply{{NodeUsage{}}, {JobUsage{}}, 0}})
    print("usage", api::to_json(usage));
  for (const auto& logged : {filled<MetricsReply>(), MetricsReply{}})
    print("metrics", api::to_json(logged));
  print("status", api::to_json(filled<LauncherStatus>()));
  print("status", api::to_json(LauncherStatus{}));
  print_view("compute", filled<ComputeView>());
  print_view("size", filled<SizeView>());
  print("size-family-list", api::to_json(std::vector<SizeSeries>{filled<SizeSeries>(), {}}));
  for (const auto type :
       {ComputeType::local, ComputeType::virtualmachine, ComputeType::computeinstance})
    for (const auto source : all_of<NodeSource>()) {
      auto compute = filled<ComputeView>();
      compute.spec.type = type;
      compute.spec.source = source;
      print("compute", api::to_json(compute));
    }
  print("token", api::to_json(filled<TokenReply>(), 3));
  print("token-list", api::to_json(std::vector{filled<TokenView>(), TokenView{}}));
}

void print_access() {
  auto user = filled<UserView>();
  for (const auto role : all_of<Role>()) user.grants.push_back({role, ""});
  print_view("user", user);
  QuotaView quota = filled<QuotaView>();
  for (const QuotaLimit limit : kQuotaLimits) quota.lines.push_back({limit, 8, false, 3});
  for (const auto kind : {QuotaHolder::Kind::user, QuotaHolder::Kind::project}) {
    quota.holder.kind = kind;
    print_view("quota", quota);
  }
  print("whoami", api::to_json(user, {quota}));
  print("whoami", api::to_json(UserView{}, {}));
  print_view("project", filled<ProjectView>());
  print_view("secret", filled<SecretView>());
  for (const auto outcome : all_of<AuditOutcome>()) {
    auto entry = filled<AuditEntry>();
    entry.outcome = outcome;
    print("audit-entry", api::to_json(entry));
    print("audit-list", api::to_json(std::vector{entry, AuditEntry{}}));
  }
  print("audit-check", api::to_json(filled<AuditVerified>()));
  print("audit-check", api::to_json(AuditVerified{}));
}

}  // namespace
}  // namespace lockstep::test

int main() {
  lockstep::test::print_environments();
  lockstep::test::print_jobs();
  lockstep::test::print_cluster();
  lockstep::test::print_access();
}
