#pragma once
// Fills every field of a message, recursively, with a value other than its default. A structured
// binding names the fields of each struct, so a struct with a new field does not compile until it
// is added here; then the round-trip tests fail if a codec omits it. Also makes the seeds of the
// fuzzers.

#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/domain/job/pipeline.h"
#include "common/domain/messages/agent_protocol.h"
#include "common/domain/messages/bulk_protocol.h"
#include "common/domain/messages/client_protocol.h"
#include "common/domain/messages/join_protocol.h"
#include "common/domain/runners/runner_protocol.h"
#include "common/domain/runners/workspace_plan.h"
#include "launcher/state/facts/fact.h"

namespace lockstep::test {

// One struct per line, so that the table stays readable.
// clang-format off
class Filler {
 public:
  // Types without fields.
  void fill(bool& v) { v = !v; }
  void fill(int& v) { v = next_int(); }
  void fill(double& v) { v = 0.5 + next_int(); }
  void fill(std::uint16_t& v) { v = static_cast<std::uint16_t>(2000 + next_int()); }
  void fill(std::uint32_t& v) { v = static_cast<std::uint32_t>(100 + next_int()); }
  void fill(std::uint64_t& v) { v = static_cast<std::uint64_t>(1'000'000 + next_int()); }
  void fill(std::int64_t& v) { v = 1'000 + next_int(); }
  void fill(std::string& v) { v = "text\xff_" + std::to_string(next_int()); }  // not UTF-8
  void fill(Duration& v) { v = seconds(next_int()); }
  void fill(Instant& v) { v = {1'700'000'000'000'000'000 + next_int()}; }
  void fill(Bytes& v) { v = mebibytes(static_cast<std::uint64_t>(next_int())); }
  void fill(Digest& v) { v = sha256(std::to_string(next_int())); }
  void fill(NodeId& v) { fill(v.value); }
  void fill(SessionId& v) { fill(v.value); }
  void fill(BootId& v) { fill(v.value); }
  void fill(JobId& v) { v.value = "job_" + std::to_string(next_int()); }
  void fill(Why& v) { v = told("why\xff_" + std::to_string(next_int())); }
  void fill(PublicKey& v) {
    v.value = std::to_string(1000 + next_int()) + std::string(36, 'k');
  }
  void fill(AttemptId& v) {
    fill(v.job);
    fill(v.number);
    fill(v.incarnation);
  }

  template <typename E>
    requires std::is_enum_v<E>
  void fill(E& v) {
    v = static_cast<int>(v) == 0 ? static_cast<E>(1) : static_cast<E>(0);
  }
  template <typename T>
  void fill(std::optional<T>& v) { fill(v.emplace()); }
  template <typename T>
  void fill(std::vector<T>& v) {
    fill(v.emplace_back());
    fill(v.emplace_back());
  }
  template <typename K>
  void fill(std::map<K, std::string>& v) { fill_map(v); }
  void fill(std::map<std::string, int>& v) { fill_map(v); }
  void fill(std::set<std::string>& v) {
    for (int i = 0; i < 2; ++i) {
      std::string one;
      fill(one);
      v.insert(one);
    }
  }
  void fill(std::map<std::string, std::vector<std::string>>& v) { fill_map(v); }

  // common/domain/job/spec.h
  void fill(ShellCommand& v) { auto& [text] = v; each(text); }
  void fill(Argv& v) { auto& [words] = v; each(words); }
  void fill(Command& v) { fill(v.emplace<Argv>()); }
  void fill(RaySettings& v) { auto& [a, b, c, d, e, f] = v; each(a, b, c, d, e, f); }
  void fill(Distribution& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(ResourceRequest& v) {
    auto& [nodes, b, c, d, e, f, g, h, i, j, k, l] = v;
    each(b, c, d, e, f, g, h, i, j, k, l);
    nodes = 2;  // the filled gang table has two members
  }
  void fill(LimitRequest& v) {
    auto& [pids, b, c, required] = v;
    each(b, c, required);
    pids = 100;
  }
  void fill(LimitCaps& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(RetryPolicy& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(CheckpointPolicy& v) { auto& [a] = v; each(a); }
  void fill(After& v) { auto& [a, b] = v; each(a, b); }
  void fill(QueueSettings& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(EarlySignal& v) {
    auto& [number, before] = v;
    each(before);
    number = 10;
  }
  void fill(StopPolicy& v) { auto& [a, b] = v; each(a, b); }
  void fill(HangPolicy& v) { auto& [a, b] = v; each(a, b); }
  void fill(JobSpec& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, binding, n, o, p, q, r, s, t, u, w, from, why, queue, data, pipeline, parent, step, attempt, array, replaced, stop, terminal, hang, core, lines] = v;
    each(a, b, c, d, e, f, g, h, i, j, k, l, m, binding, n, o, p, q, r, s, t, u, w, from, why, queue, data, parent, step, attempt, array, replaced, stop, terminal, hang, core, lines);
    (void)pipeline;  // instead of a command: see pipeline_job()
  }
  void fill(StepBinding& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(PipelineStep& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(PipelineOutput& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(PipelineSpec& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(ArrayTask& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }

  // common/domain/people/access.h
  void fill(Grant& v) { auto& [a, b] = v; each(a, b); }
  void fill(AddUser& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(RemoveUser& v) { auto& [a] = v; each(a); }
  void fill(SetAccount& v) { auto& [a, b] = v; each(a, b); }
  void fill(ChangeRole& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(AddKey& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(RevokeKey& v) { auto& [a] = v; each(a); }
  void fill(CreateProject& v) { auto& [a] = v; each(a); }
  void fill(RemoveProject& v) { auto& [a] = v; each(a); }
  void fill(UserView::Key& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(UserView& v) { auto& [a, b, c, d, e, f] = v; each(a, b, c, d, e, f); }
  void fill(ProjectView& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(ListUsers& v) { auto& [a] = v; each(a); }
  void fill(UsersReply& v) { auto& [a] = v; each(a); }
  void fill(ProjectsReply& v) { auto& [a] = v; each(a); }
  void fill(SetSecret& v) { auto& [a, b] = v; each(a, b); }
  void fill(RemoveSecret& v) { auto& [a] = v; each(a); }
  void fill(ListSecrets&) {}
  void fill(SecretView& v) { auto& [a, b] = v; each(a, b); }
  void fill(SecretsReply& v) { auto& [a] = v; each(a); }
  void fill(WhoAmI&) {}
  void fill(ListProjects&) {}
  void fill(QuotaHolder& v) { auto& [a, b] = v; each(a, b); }
  void fill(Quota& v) { fill_map(v); }
  void fill(SetQuota& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(QuotaView::Line& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(QuotaView& v) { auto& [a, b] = v; each(a, b); }
  void fill(SshHost& v) {
    auto& [a, b, c, d, e, f, g, h, i] = v;
    each(a, b, c, d, e, f, g, h, i);
  }
  void fill(Scale& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(ComputeSpec& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = v;
    each(a, b, c, d, e, f, g, h, i, j, k, l, m);
  }
  void fill(ScalingView& v) {
    auto& [a, b, c, d, e, f, g, h, i] = v;
    each(a, b, c, d, e, f, g, h, i);
  }
  void fill(MachineView& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = v;
    each(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  }
  void fill(ComputeEvent& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(ComputeView::Nodes& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(ComputeView& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = v;
    each(a, b, c, d, e, f, g, h, i, j, k, l, m);
  }
  void fill(StartCompute& v) { auto& [a] = v; each(a); }
  void fill(StopCompute& v) { auto& [a, b] = v; each(a, b); }
  void fill(RestartCompute& v) { auto& [a, b] = v; each(a, b); }
  void fill(InstanceView& v) { auto& [a, b, c, d, e, f, g, h, i, j] = v; each(a, b, c, d, e, f, g, h, i, j); }
  void fill(InstanceSettings& v) { auto& [a, b] = v; each(a, b); }
  void fill(InstanceSchedule& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(Trigger& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(LocalTime& v) { auto& [a] = v; each(a); }
  void fill(CronTrigger& v) { auto& [a] = v; each(a); }
  void fill(Recurrence& v) { auto& [a, b, c, d, e, f] = v; each(a, b, c, d, e, f); }
  void fill(std::variant<CronTrigger, Recurrence>& v) {  // each in its turn
    has_cron_ = !has_cron_;
    if (has_cron_) fill(v.emplace<CronTrigger>());
    else fill(v.emplace<Recurrence>());
  }
  // common/domain/targets/size.h
  void fill(SizeSeries& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(Size& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = v;
    each(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  }
  void fill(SizeView& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(DefineSizes& v) { auto& [a] = v; each(a); }
  void fill(RemoveSize& v) { auto& [a] = v; each(a); }
  void fill(GrantSize& v) { auto& [a, b] = v; each(a, b); }
  void fill(ListSizes& v) { auto& [a] = v; each(a); }
  void fill(SizesReply& v) { auto& [a, b] = v; each(a, b); }
  void fill(LabelNode& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(CreateCompute& v) { auto& [a, b] = v; each(a, b); }
  void fill(UpdateCompute& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(AttachHosts& v) { auto& [a, b] = v; each(a, b); }
  void fill(DetachHosts& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(DeleteCompute& v) { auto& [a, b] = v; each(a, b); }
  void fill(ListComputes& v) { auto& [a, b] = v; each(a, b); }
  void fill(ComputesReply& v) { auto& [a] = v; each(a); }
  void fill(ReadComputeLog& v) { auto& [a, b] = v; each(a, b); }
  void fill(ComputeLogReply& v) { auto& [a] = v; each(a); }
  void fill(ListQuotas& v) { auto& [a, b] = v; each(a, b); }
  void fill(QuotasReply& v) { auto& [a] = v; each(a); }
  void fill(ChangePrincipals& v) { fill(v.change.emplace<ChangeRole>()); }

  // common/domain/people/audit.h
  void fill(AuditEntry& v) {
    auto& [a, b, c, d, e, f, g, h, i, j] = v;
    each(a, b, c, d, e, f, g, h, i, j);
  }
  void fill(AuditMark& v) { auto& [a, b] = v; each(a, b); }
  void fill(QueryAudit& v) { auto& [a, b, c, d, e, f, g, h] = v; each(a, b, c, d, e, f, g, h); }
  void fill(VerifyAudit& v) { auto& [a] = v; each(a); }
  void fill(AuditReply& v) { auto& [a, b] = v; each(a, b); }
  void fill(AuditVerified& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }

  // common/domain/environment/definition.h
  void fill(HostEnvironment& v) { auto& [a] = v; each(a); }
  void fill(VenvEnvironment& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(CondaEnvironment& v) {
    auto& [a, b, c, d, e, f, g, h] = v;
    each(a, b, c, d, e, f, g, h);
  }
  void fill(ImageBuild& v) { auto& [a, b] = v; each(a, b); }
  void fill(DockerEnvironment& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(Container& v) {
    auto& [a, b, c, d, e, f, g, h, i, j] = v;
    each(a, b, c, d, e, f, g, h, i, j);
  }
  void fill(EnvironmentDefinition& v) { fill(v.emplace<CondaEnvironment>()); }
  void fill(EnvironmentSpec& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(EnvironmentLock& v) { auto& [a, b] = v; each(a, b); }
  void fill(EnvironmentPlan& v) { auto& [a, b, c, d, e, f] = v; each(a, b, c, d, e, f); }
  void fill(EnvironmentReport& v) { auto& [a, b, c, d, e, f, g] = v; each(a, b, c, d, e, f, g); }
  void fill(Activation& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(RegisteredEnvironment& v) { auto& [a, b, c] = v; each(a, b, c); }

  // common/domain/data/inputs.h
  void fill(DataInput& v) {
    auto& [name, b, mode, d, tree, f, address, open, place] = v;
    each(b, d, f, open);
    const int number = next_int();
    name = "input_" + std::to_string(number);
    mode = InputMode::download;  // a direct one has an address and no tree
    if (number % 2 == 0)
      fill(tree);
    else
      fill(place);
  }

  void fill(DatastorePath& v) {
    auto& [datastore, directory, path] = v;
    datastore = "store" + std::to_string(next_int());
    directory = "/data/" + std::to_string(next_int());
    path = "below/" + std::to_string(next_int());
  }
  void fill(DatastoreView& v) {
    auto& [a, b, c, d, e, f, g] = v;
    each(a, b, c, d, e, f, g);
  }
  void fill(ListDatastores& v) { auto& [a] = v; each(a); }
  void fill(DatastoresReply& v) { auto& [a] = v; each(a); }
  void fill(WaitsForData& v) { auto& [a] = v; each(a); }

  // common/domain/data/asset.h
  void fill(RegisteredAsset& v) {
    auto& [a, b, c, d, e, f, g, h, i] = v;
    each(a, b, c, d, e, f, g, h, i);
  }
  void fill(CreateAsset& v) { auto& [a, b] = v; each(a, b); }
  void fill(ListAssets& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(ShowAsset& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(ArchiveAsset& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(AssetView& v) { auto& [a, b, c, d, e, f, g, h, i, j] = v; each(a, b, c, d, e, f, g, h, i, j); }
  void fill(NameGrants& v) { auto& [a, b] = v; each(a, b); }
  void fill(ShareName& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(DeleteVersions& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(AnnotateVersion& v) { auto& [a, b, c, d, e, f, g] = v; each(a, b, c, d, e, f, g); }
  void fill(AssetReply& v) { auto& [a] = v; each(a); }
  void fill(AssetsReply& v) { auto& [a, b] = v; each(a, b); }

  // common/domain/data/outputs.h
  void fill(OutputSpec& v) {
    auto& [name, b, c, d, e, f, g, h] = v;
    each(b, c, d, e, g, h);
    name = "output_" + std::to_string(next_int());
    f = "store_" + std::to_string(next_int());
  }
  void fill(OutputAsset& v) {
    auto& [a, b, c] = v;
    each(a, b, c);
    a = "asset-" + std::to_string(next_int());  // names are checked
    b = std::to_string(next_int());
    c = InputType::uri_folder;
  }
  void fill(NodeTree& v) { auto& [a, b] = v; each(a, b); }
  void fill(CheckpointSource& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(CollectedOutput& v) {
    auto& [a, name, c, d, e, f, g, h, i] = v;
    each(a, c, d, e, f, g, h, i);
    name = "output_" + std::to_string(next_int());
  }

  void fill(NotKept& v) { auto& [a, b, c, d, e, f] = v; each(a, b, c, d, e, f); }

  // common/domain/ranks/exit_report.h
  void fill(RankExit& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, lost_peer, backtrace] = v;
    each(a, b, c, d, e, f, g, h, i, j, k, l, m, n, lost_peer, backtrace);
  }
  void fill(LostPeer& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(RankEnd& v) { auto& [a, b, c, d, e, f, g] = v; each(a, b, c, d, e, f, g); }
  void fill(LogSize& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(PeerAbort& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(ClockOffset& v) {
    auto& [ahead, b] = v;
    each(b);
    ahead = -milliseconds(200);
  }
  void fill(PossibleFirst& v) { auto& [a, b, c, d, e, why, f] = v; each(a, b, c, d, e, why, f); }
  void fill(NodeClock& v) { auto& [a, b] = v; each(a, b); }
  void fill(NodeExitReport& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, hang] = v;
    each(a, b, c, d, e, f, g, h, i, j, k, l, m, hang);
  }
  void fill(ExitReport& v) {
    auto& [a, b, c, d, e, f, why, g, h, i, j, k, l, hang, lost_peer, backtrace] = v;
    each(a, b, c, d, e, f, why, g, h, i, j, k, l, hang, lost_peer, backtrace);
  }

  // common/domain/targets/node.h
  void fill(GpuDevice& v) { auto& [a, b, c, d, e, f] = v; each(a, b, c, d, e, f); }
  void fill(NetworkInterface& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(RdmaPort& v) { auto& [a, b, c, d, e, f, g] = v; each(a, b, c, d, e, f, g); }
  void fill(Inventory& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, w, x, y, z, fabric] = v;
    each(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, w, x, y, z, fabric);
  }

  // common/domain/targets/fabric.h
  void fill(FabricAddress& v) { auto& [a, b] = v; each(a, b); }
  void fill(FabricInterface& v) { auto& [a, b, c, d, e, f, g, h, i, j, k] = v; each(a, b, c, d, e, f, g, h, i, j, k); }
  void fill(FabricGid& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(FabricPort& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = v;
    each(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  }
  void fill(FabricGpu& v) { auto& [a, b, c, d, e, f] = v; each(a, b, c, d, e, f); }
  void fill(FabricNuma& v) { auto& [a, b] = v; each(a, b); }
  void fill(NodeFabric& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = v;
    each(a, b, c, d, e, f, g, h, i, j, k, l);
  }
  void fill(PathFailure& v) { auto& [a, b, c, d, e, f, g, h] = v; each(a, b, c, d, e, f, g, h); }
  void fill(ChosenPath& v) { auto& [a, b, c, d, e, f] = v; each(a, b, c, d, e, f); }
  void fill(ProbeResult& v) {
    auto& [a, b, c, broken] = v;
    each(a, b, c);
    broken = 1;
  }
  void fill(NetworkSetting& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(SettingOverride& v) { auto& [a, b] = v; each(a, b); }
  void fill(OperatorVariable& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(OperatorInterface& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(OperatorRdma& v) { auto& [a, b] = v; each(a, b); }
  void fill(OperatorSettings& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }

  void fill(MachinePart& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }

  // common/domain/runners/assignment.h
  void fill(Allotment& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(GangMember& v) { auto& [a, b, c, d, e, f, g] = v; each(a, b, c, d, e, f, g); }
  void fill(SharedGang& v) {
    GangTable table;
    fill(table);
    v = std::move(table);
  }
  void fill(GangTable& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(GangFabric& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(GangShare& v) {
    auto& [nodes, radix, c, d, children] = v;
    each(c, d);
    nodes = 2;  // as in the filled table; its second node has no children
    radix = 2;
    (void)children;  // see runners/runner_codec_test.cc
  }
  void fill(Assignment& v) {
    auto& [a, b, node_rank, d, e, f, g, h, i, j, k, l, m, n, o, settings, share] = v;
    each(a, b, d, e, f, g, h, i, j, k, l, m, n, o, settings, share);
    node_rank = 1;
  }
  void fill(DesiredState& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(PartReport& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, found, probe, settings, other_settings, rows] = v;
    each(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, found, probe, settings, other_settings, rows);
  }
  void fill(FoundRank& v) { auto& [a, b, c, d, e, f, g] = v; each(a, b, c, d, e, f, g); }
  void fill(Found& v) { auto& [a, b, c, d, e, f, g, h, i, j] = v; each(a, b, c, d, e, f, g, h, i, j); }
  void fill(StagedInput& v) { auto& [a, b] = v; each(a, b); }
  void fill(PlacedInput& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(WorkspacePlan& v) {
    auto& [mode, b, c, d, e, f, g] = v;
    each(b, c, d, e, f, g);
    mode = WorkspacePlan::Mode::overlay_userns;
  }

  // common/domain/targets/metrics.h
  void fill(GpuUse& v) {
    auto& [a, percent, c] = v;
    each(a, c);
    percent = 73;
  }
  void fill(NodeUse& v) { auto& [a, b, c, d, e, f, g] = v; each(a, b, c, d, e, f, g); }
  void fill(RankUse& v) { auto& [a, b, c, d, e, f, g] = v; each(a, b, c, d, e, f, g); }
  void fill(PartUse& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(UseSample& v) {
    auto& [a, b, c, d, e, percent] = v;
    each(a, b, c, d, e);
    percent = 12;
  }
  void fill(MeasuredNode& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(MeasuredPart& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(UsageReport& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(GetUsage& v) { auto& [a, b] = v; each(a, b); }
  void fill(NodeUsage& v) { auto& [a, b, c, d, e, f, g, h, i] = v; each(a, b, c, d, e, f, g, h, i); }
  void fill(UsageNow& v) {
    auto& [a, percent, c, d, e] = v;
    each(a, c, d, e);
    percent = 41;
  }
  void fill(PartUsage& v) { auto& [a, b, c, d, e, f, g] = v; each(a, b, c, d, e, f, g); }
  void fill(JobUsage& v) { auto& [a, b, c, d, e, f] = v; each(a, b, c, d, e, f); }
  void fill(UsageReply& v) { auto& [a, b, c] = v; each(a, b, c); }

  // common/domain/runs
  void fill(metrics::Axis& v) { v = metrics::Axis::time; }
  void fill(metrics::Point& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(metrics::MetricSummary& v) { auto& [a, b, c, d, e, f, g] = v; each(a, b, c, d, e, f, g); }
  void fill(metrics::SeriesId& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(metrics::Bucket& v) { auto& [a, b, c, d, e, f, g] = v; each(a, b, c, d, e, f, g); }
  void fill(metrics::Curve& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(GetMetrics& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(MetricsReply& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(GetLatest& v) { auto& [a, b] = v; each(a, b); }
  void fill(std::map<JobId, std::vector<metrics::MetricSummary>>& v) { fill_map(v); }
  void fill(LatestReply& v) { auto& [a] = v; each(a); }

  // common/domain/messages/views.h
  void fill(PartView& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, why, limits, notes] = v;
    each(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, why, limits, notes);
  }
  void fill(CheckpointView& v) { auto& [a, b, c, d, e, f] = v; each(a, b, c, d, e, f); }
  void fill(AttemptView& v) { auto& [a, b, c, d, e, f, g, h, i, j, why] = v; each(a, b, c, d, e, f, g, h, i, j, why); }
  void fill(JobView& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, for_all] = v;
    each(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s);
    (void)for_all;  // it is sent to nobody
  }
  void fill(StepView& v) { auto& [a, b, c, d, e, f, g, h, i, j, k] = v; each(a, b, c, d, e, f, g, h, i, j, k); }
  void fill(OutputWrite& v) { auto& [a, b, c, d, e, f, g] = v; each(a, b, c, d, e, f, g); }
  void fill(MergedOutput& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(NodeView& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, why] = v;
    each(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, why);
  }
  void fill(NodeEvent& v) { auto& [a, b, why, c] = v; each(a, b, why, c); }
  void fill(BlobTraffic& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(EnvironmentView::Lock& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(EnvironmentView& v) {
    auto& [a, b, c, d, e, f, g, h, i, j] = v;
    each(a, b, c, d, e, f, g, h, i, j);
  }
  void fill(FileChanges& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(PartChange& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(RerunView& v) { auto& [a, b] = v; each(a, b); }
  void fill(SettingsView::Elsewhere& v) { auto& [a, b] = v; each(a, b); }
  void fill(SettingsView& v) { auto& [a, b, c, d, e, f, g] = v; each(a, b, c, d, e, f, g); }
  void fill(ExplainView& v) {
    auto& [a, b, c, settings, reasons] = v;
    each(a, b, c, settings);
    (void)reasons;  // they are sent to nobody
  }
  void fill(JobEvent& v) { auto& [a, b, c, d, why, e] = v; each(a, b, c, d, why, e); }
  void fill(Retention& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(LauncherStatus& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = v;
    each(a, b, c, d, e, f, g, h, i, j, k, l, m);
  }
  void fill(DiskWrites& v) { auto& [a, b, c] = v; each(a, b, c); }

  // common/domain/*_messages.h
  void fill(PreemptionNotice& v) { auto& [a, b] = v; each(a, b); }
  void fill(SessionOpen& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = v;
    each(a, b, c, d, e, f, g, h, i, j, k);
  }
  void fill(Heartbeat& v) {
    auto& [a, b, c, d, e, f, g, h, i, j] = v;
    each(a, b, c, d, e, f, g, h, i, j);
  }
  void fill(Observed& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(LauncherAddress& v) { auto& [a, b] = v; each(a, b); }
  void fill(LauncherAddresses& v) { auto& [a] = v; each(a); }
  void fill(SessionAccepted& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(SessionRefused& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(SessionLost& v) { auto& [a, b] = v; each(a, b); }
  void fill(HeartbeatAck& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(ObservedAck& v) { auto& [a, b] = v; each(a, b); }
  void fill(Desired& v) { auto& [a, b] = v; each(a, b); }
  void fill(Submit& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(CreateEnvironment& v) { auto& [a, b] = v; each(a, b); }
  void fill(ShowEnvironment& v) { auto& [a] = v; each(a); }
  void fill(ListEnvironments& v) { auto& [a, b] = v; each(a, b); }
  void fill(ArchiveEnvironment& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(PruneEnvironments& v) { auto& [a] = v; each(a); }
  void fill(EnvironmentReply& v) { auto& [a] = v; each(a); }
  void fill(EnvironmentsReply& v) { auto& [a] = v; each(a); }
  void fill(CancelJob& v) { auto& [a] = v; each(a); }
  void fill(ShareJob& v) { auto& [a, b] = v; each(a, b); }
  void fill(UpdateJob& v) { auto& [a, b] = v; each(a, b); }
  void fill(ArchiveJob& v) { auto& [a, b] = v; each(a, b); }
  void fill(AnnotateJob& v) { auto& [a, b, c, d, e, f, g] = v; each(a, b, c, d, e, f, g); }
  void fill(DeleteJobs& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(JobFilter::Tag& v) { auto& [a, b] = v; each(a, b); }
  void fill(JobFilter& v) { auto& [a, b, c, d, e, f, g, h] = v; each(a, b, c, d, e, f, g, h); }
  void fill(ListJobs& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(ShowJob& v) { auto& [a, b] = v; each(a, b); }
  void fill(ExplainJob& v) { auto& [a, b] = v; each(a, b); }
  void fill(ListEvents& v) { auto& [a, b] = v; each(a, b); }
  void fill(WatchJob& v) { auto& [a] = v; each(a); }
  void fill(ListNodes&) {}
  void fill(ShowNode& v) { auto& [a, b] = v; each(a, b); }
  void fill(CreateToken& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(ApproveNode& v) { auto& [a] = v; each(a); }
  void fill(ListTokens&) {}
  void fill(RevokeToken& v) { auto& [a] = v; each(a); }
  void fill(TokensReply& v) { auto& [a] = v; each(a); }
  void fill(TokenView& v) {
    auto& [a, b, c, d, e, f, g, h, i] = v;
    each(a, b, c, d, e, f, g, h, i);
  }
  void fill(DrainNode& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(RemoveNode& v) { auto& [a, b] = v; each(a, b); }
  void fill(GetStatus&) {}
  void fill(Shutdown& v) { auto& [a] = v; each(a); }
  void fill(CheckJobFile& v) {
    auto& [a, b, c, d, e, f, g, h, i, j] = v;
    each(a, b, c, d, e, f, g, h, i, j);
  }
  void fill(JobFileChecked& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(SubmitReply& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(JobReply& v) { auto& [a] = v; each(a); }
  void fill(JobsDeleted::Kept& v) {
    auto& [a, b, c, project] = v;
    each(a, b, c);
    (void)project;  // it is sent to nobody
  }
  void fill(JobsDeleted& v) {
    auto& [a, b, c, projects] = v;
    each(a, b, c);
    (void)projects;  // the same
  }
  void fill(JobUpdate& v) { auto& [a] = v; each(a); }
  void fill(WaitsForDisk& v) { auto& [a] = v; each(a); }
  void fill(StillWatching& v) { auto& [a, b] = v; each(a, b); }
  void fill(JobsReply& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(ExplainReply& v) { auto& [a] = v; each(a); }
  void fill(EventsReply& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(NodesReply& v) { auto& [a] = v; each(a); }
  void fill(TokenReply& v) { auto& [a, b] = v; each(a, b); }
  void fill(StatusReply& v) { auto& [a] = v; each(a); }
  void fill(Done& v) { auto& [a] = v; each(a); }
  void fill(Refused& v) { auto& [a, b] = v; each(a, b); }
  void fill(JoinRequest& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(AskAboutKey&) {}
  void fill(KeyStanding& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(JoinAccepted& v) { auto& [a, b] = v; each(a, b); }
  void fill(JoinRefused& v) { auto& [a] = v; each(a); }
  void fill(AllowPeers& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }

  // common/domain/messages/bulk_protocol.h
  void fill(MissingBlobs& v) { auto& [a] = v; each(a); }
  void fill(MissingBlobsReply& v) { auto& [a] = v; each(a); }
  void fill(BlobPiece& v) { auto& [a, b, c, d, e] = v; each(a, c, b, d, e); }  // offset < size
  void fill(PutBlobs& v) { auto& [a] = v; each(a); }
  void fill(PutBlobsReply& v) { auto& [a] = v; each(a); }
  void fill(GetBlobs& v) {
    auto& [a, offset, c, d, e, f] = v;
    each(a, c, d, e, f);
    offset = 3 * kMaxPieceBytes;
  }
  void fill(BlobData& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(LogKey& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(LogTime& v) { auto& [a, b] = v; each(a, b); }
  void fill(LogAppend& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(LogAck& v) { auto& [a, b] = v; each(a, b); }
  void fill(LogResume& v) { auto& [a, b] = v; each(a, b); }
  void fill(LogFollow::Position& v) { auto& [a, b] = v; each(a, b); }
  void fill(LogFollow& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = v;
    each(a, b, c, d, e, f, g, h, i, j, k, l);
  }
  void fill(LogChunk& v) { auto& [a, b, c, d, e, f, g] = v; each(a, b, c, d, e, f, g); }
  void fill(LogCredit& v) { auto& [a] = v; each(a); }
  void fill(LogEnd& v) { auto& [a] = v; each(a); }
  void fill(BulkRefused& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(FindPeers& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(BlobPeer& v) { auto& [a, b, c, d, e, f] = v; each(a, b, c, d, e, f); }
  void fill(FindPeersReply& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(FetchReport::Share& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(FetchReport& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(AskUnits& v) { auto& [a] = v; each(a); }
  void fill(UnitsReply& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }

  // common/domain/runners/attach_frames.h
  void fill(AttachId& v) { v.value = std::string("\0\xff", 2) + std::to_string(1'000 + next_int()) + std::string(10, 'i'); }
  void fill(AttachStream& v) { v = v == AttachStream::error ? AttachStream::input : AttachStream::error; }
  void fill(TerminalSize& v) { auto& [a, b] = v; each(a, b); }
  void fill(AttachProgram& v) {
    auto& [a, b, c, term, e] = v;
    each(a, b, c, e);
    term = "xterm-256color";
  }
  void fill(AttachMain& v) { auto& [a] = v; each(a); }
  void fill(AttachSignal& v) { auto& [number] = v; number = 10; }
  void fill(AttachStacks& v) { auto& [a, b] = v; each(a, b); }
  void fill(AttachOrder& v) { fill(v.emplace<AttachProgram>()); }
  void fill(AttachOpen& v) {
    auto& [a, b, c, d, e, f, g, h] = v;
    each(a, b, c, d, e, f, g, h);
  }
  void fill(AttachOpened& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(AttachData& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(AttachTaken& v) { auto& [a, b] = v; each(a, b); }
  void fill(AttachResize& v) { auto& [a] = v; each(a); }
  void fill(AttachNotify& v) { auto& [number] = v; number = 12; }
  void fill(AttachAlive&) {}
  void fill(AttachEnd& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(AttachClose&) {}
  void fill(AttachRefused& v) { auto& [a, b] = v; each(a, b); }
  void fill(AttachBody& v) { fill(v.emplace<AttachOpen>()); }
  void fill(AttachFrame& v) { auto& [a, b] = v; each(a, b); }
  void fill(AttachWanted& v) { auto& [a] = v; each(a); }

  // common/domain/runners/runner_protocol.h
  void fill(RunnerStatus& v) { auto& [a] = v; each(a); }
  void fill(UpdateAssignment& v) { auto& [a] = v; each(a); }
  void fill(LogsTaken& v) { auto& [a] = v; each(a); }
  void fill(RanksUse& v) { auto& [a] = v; each(a); }
  void fill(EndPart& v) { auto& [a, b] = v; each(a, b); }
  void fill(GangHello& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(GangReady& v) { auto& [a, b] = v; each(a, b); }
  void fill(GangStart& v) { auto& [a] = v; each(a); }
  void fill(FencePart& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(FenceDone& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(ModexRequest& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(ModexReply& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(GangAbort& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(GangDrained& v) { auto& [a, b] = v; each(a, b); }
  void fill(GangStandings& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(GangLook& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(GangSeen& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(CollectiveCount& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(Hindrances& v) { auto& [a, b, c, d, e, f, g] = v; each(a, b, c, d, e, f, g); }
  void fill(Versions& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(RankPace& v) { auto& [a, b, c, d, e, f, g, h, i, j] = v; each(a, b, c, d, e, f, g, h, i, j); }
  void fill(RankStanding& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, w, x, y, z, a2, b2, c2, d2, e2, f2, g2, h2, i2, j2, k2, l2, m2, n2, o2, p2, q2, r2, s2, t2, u2] = v;
    each(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, w, x, y, z, a2, b2, c2, d2, e2, f2, g2, h2, i2, j2, k2, l2, m2, n2, o2, p2, q2, r2, s2, t2, u2);
  }
  void fill(GangRows& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }

  // common/domain/runners/probe_protocol.h
  void fill(ProbeCandidate& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(ProbeOffer& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(ProbePeer& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(ProbePlan& v) { auto& [a, b] = v; each(a, b); }
  void fill(PathFinding& v) {
    auto& [a, candidate, c, source, e, f, g, h, i] = v;
    each(a, c, e, f, g, h, i);
    candidate = 1;
    source = 2;
  }
  void fill(ProbeFindings& v) { auto& [a, b] = v; each(a, b); }
  void fill(ProbeOutcome& v) { auto& [a, b] = v; each(a, b); }

  // launcher/state/facts/fact.h
  void fill(launcher::TokenCreated& v) { auto& [a, b, c, d, e, f, g] = v; each(a, b, c, d, e, f, g); }
  void fill(launcher::NodeJoined& v) {
    auto& [a, b, c, d, e, f, g, h] = v;
    each(a, b, c, d, e, f, g, h);
  }
  void fill(launcher::SizeDefined& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::SizeRemoved& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::SizeGranted& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::NodeNoticed& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::NodeLabelsChanged& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::ComputeCreated& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::ComputeUpdated& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::ComputeDeleted& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::ComputeLeaving& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::MachineWanted& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::InstanceStarted& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::InstanceStopped& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::MachineFound& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::MachineCreated& v) { auto& [a, b, c, d, e, f] = v; each(a, b, c, d, e, f); }
  void fill(launcher::MachineFailed& v) {
    auto& [a, b, c, d, e, f, g] = v;
    each(a, b, c, d, e, f, g);
  }
  void fill(launcher::MachineLeaving& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(launcher::MachineGone& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::NodeApproved& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::JobPriorityChanged& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::DependencyMet& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::JobAtHead& v) { auto& [a] = v; each(a); }
  void fill(launcher::Amounts& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::RecentUseSet& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(launcher::JobArchived& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::JobAnnotated& v) { auto& [a, b, c, d, e, f] = v; each(a, b, c, d, e, f); }
  void fill(launcher::JobShared& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::HostClaim& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::NodeSessionStarted& v) {
    auto& [a, b, c, d, e, f] = v;
    each(a, b, c, d, e, f);
  }
  void fill(launcher::NodeLost& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::NodeDrainChanged& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::NodeRemoved& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::JobSubmitted& v) {
    auto& [a, b, c, d, e, f, g, h] = v;
    each(a, b, c, d, e, f, g, h);
  }
  void fill(launcher::JobSource& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::CancelRequested& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::PartPlacement& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(launcher::AttemptPlaced& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(launcher::GangFormed& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::PartChanged& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::PartGone& v) { auto& [a, b, c, d, e, f] = v; each(a, b, c, d, e, f); }
  void fill(launcher::AttemptDoomed& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(launcher::AttemptEnded& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::JobRequeued& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(launcher::CheckpointSaved& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::OutputsSoFar& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::FoundChanged& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::EnvironmentRegistered& v) { auto& [a, b, c, d, e, f] = v; each(a, b, c, d, e, f); }
  void fill(launcher::OutputsMerged& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::OutputWritten& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::OutputNotWritten& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(launcher::StepReused& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(launcher::StepSkipped& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::AssetRegistered& v) { auto& [a, b, c, d, e, f] = v; each(a, b, c, d, e, f); }
  void fill(launcher::NameShared& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(launcher::VersionsDeleted& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(launcher::NameSettled& v) { auto& [a, b, c, d, e, f] = v; each(a, b, c, d, e, f); }
  void fill(launcher::EnvironmentArchived& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::VersionAnnotated& v) { auto& [a, b, c, d, e, f] = v; each(a, b, c, d, e, f); }
  void fill(launcher::AssetArchived& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(launcher::ProjectCreated& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::ProjectRemoved& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::UserAdded& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::UserAccountSet& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::UserRemoved& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::RoleGranted& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::RoleWithdrawn& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::UserKeyAdded& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(launcher::UserKeyRevoked& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::QuotaSet& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(launcher::EnvironmentWanted& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::EnvironmentNotSolved& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(launcher::EnvironmentLocked& v) { auto& [a, b, c, d, e, f, g] = v; each(a, b, c, d, e, f, g); }
  void fill(launcher::EnvironmentReset& v) { auto& [a, b, c, d, e] = v; each(a, b, c, d, e); }
  void fill(launcher::EnvironmentsPruned& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::FenceLifted& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::PartReleased& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(launcher::TokenForgotten& v) { auto& [a] = v; each(a); }
  void fill(launcher::NodeRevised& v) { auto& [a, b, c] = v; each(a, b, c); }
  void fill(launcher::IncarnationBegan& v) { auto& [a, b] = v; each(a, b); }
  void fill(launcher::JobDeleted& v) { auto& [a, b, c, d] = v; each(a, b, c, d); }
  void fill(launcher::JobFinished& v) { auto& [a, b, c] = v; each(a, b, c); }

 private:
  int next_int() { return ++counter_ % 90 + 1; }

  // Fills each field, and checks that its value changed.
  template <typename... Fields>
  void each(Fields&... fields) {
    (changed(fields), ...);
  }
  template <typename Field>
  void changed(Field& field) {
    const Field before = field;
    fill(field);
    if (field == before) fill(field);  // the counter's value was the default by chance
  }
  template <typename Map>
  void fill_map(Map& v) {
    typename Map::key_type key{};
    typename Map::mapped_type value{};
    for (int i = 0; i < 2; ++i) {
      fill(key);
      fill(value);
      v[key] = value;
    }
  }

  int counter_ = 0;
  bool has_cron_ = false;
};
// clang-format on

template <typename T>
T filled() {
  T value{};
  Filler{}.fill(value);
  return value;
}

// A pipeline has no command.
inline JobSpec pipeline_job() {
  JobSpec spec = filled<JobSpec>();
  spec.command = ShellCommand{};
  spec.pipeline = filled<PipelineSpec>();
  return spec;
}

// Calls f with a filled value of each alternative of a variant.
template <typename Variant, typename F, std::size_t... I>
void for_each_alternative(F&& f, std::index_sequence<I...>) {
  (f(Variant(filled<std::variant_alternative_t<I, Variant>>())), ...);
}
template <typename Variant, typename F>
void for_each_alternative(F&& f) {
  for_each_alternative<Variant>(f, std::make_index_sequence<std::variant_size_v<Variant>>());
}

// Calls f with an AttachFrame of each kind, and with an opening of each order.
template <typename F>
void for_each_attach_frame(F&& f) {
  const AttachId attachment = filled<AttachId>();
  for_each_alternative<AttachBody>([&](const AttachBody& body) {
    f(AttachFrame{attachment, body});
  });
  for_each_alternative<AttachOrder>([&](const AttachOrder& order) {
    AttachOpen open = filled<AttachOpen>();
    open.order = order;
    f(AttachFrame{attachment, open});
  });
}

}  // namespace lockstep::test
