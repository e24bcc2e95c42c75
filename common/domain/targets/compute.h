#pragma once
// Compute targets: the names that `compute:` in a job file refers to. A target's type says where
// its nodes come from. The launcher's state (launcher/core) holds the target's nodes and the jobs
// that wait for it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/table.h"
#include "common/base/time.h"
#include "common/base/word.h"
#include "common/domain/targets/node_labels.h"
#include "common/domain/targets/provider_settings.h"
#include "common/domain/targets/schedule.h"
#include "common/domain/why/why.h"

namespace lockstep {

enum class ComputeType {
  local,            // an alias: it has the nodes of the target "local"
  virtualmachine,   // has nodes of its own: machines that an admin names, or that join
  amlcompute,       // a cluster: the launcher makes machines when jobs need them, and removes them
  kubernetes,       // as amlcompute, and the machines are pods
  computeinstance,  // one machine that is on until a user or a schedule stops it
};
// The word in files and tables: "virtualmachine".
Word describe(ComputeType type);
std::string_view to_string(ComputeType type);

// The target that every launcher has from the start.
inline constexpr std::string_view kLocalCompute = "local";

// The end of the error for a job that names a target that does not exist.
inline constexpr std::string_view kHowToChooseCompute =
    "choose one with `compute:` in the file, --set compute=NAME, --compute NAME or `lockstep "
    "config "
    "set defaults.compute=NAME`";

inline constexpr std::size_t kMaxComputes = 1'000;  // the most targets of one launcher
inline constexpr std::size_t kMinComputeNameBytes = 3;
inline constexpr std::size_t kMaxComputeNameBytes = 24;
inline constexpr std::size_t kMaxComputeTextBytes = 4'096;  // description, location, tag
inline constexpr std::size_t kMaxComputeTags = 50;
inline constexpr std::size_t kMaxHosts = 1'000;  // the most hosts of one target
inline constexpr std::size_t kMaxMachineFindings = 32;
inline constexpr std::size_t kMaxComputeEvents = 200;  // the most events that are kept per target
// The step of a machine whose call has begun, before the provider reports one.
inline constexpr std::string_view kFirstMachineStep = "begin";
// The text of one ComputeLogReply.
inline constexpr std::size_t kMaxComputeLogBytes = 1u << 20;

// Whether the agents of an ssh target dial the launcher through a reverse tunnel.
enum class TunnelUse {
  unset,      // the provider's default, which is automatic
  automatic,  // tunnelled if the host cannot dial the launcher
  always,
  never,
  unknown,  // a client of another version asks for it; no target has it
};
// The word in files: "auto"; "" for unset.
Word describe(TunnelUse use);
std::string_view to_string(TunnelUse use);
std::optional<TunnelUse> tunnel_use_from(std::string_view word);

// A host that the ssh provider attaches. Everything except `address` may be empty.
struct SshHost {
  std::string name;             // unique in the target; the machine's and the node's name
  std::string address;          // a host name, an IP address, or a Host of ~/.ssh/config
  std::string user;             // "": what ssh's configuration says
  int port = 0;                 // 0: the same
  std::string key;              // path of a private key on the launcher's machine
  std::string password_secret;  // name of a secret of `secret_owner`
  std::string secret_owner;     // the admin who attached the host; the launcher fills it in. ""
                                // in older journals: the target's creator, or no secret
  std::string jump;             // USER@HOST:PORT through which ssh connects
  std::string directory;  // the folder in which everything is installed; "": below ~/.lockstep
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kNameRule);
    see(field<2>, "address", s.address, kNameRule);
    see(field<3>, "user", s.user, kNameRule);
    see(field<4>, "port", s.port, {.low = 0, .high = 65'535});
    see(field<5>, "key", s.key);
    see(field<6>, "password_secret", s.password_secret);
    see(field<7>, "secret_owner", s.secret_owner);
    see(field<8>, "jump", s.jump, kNameRule);
    see(field<9>, "directory", s.directory);
  }
  friend bool operator==(const SshHost&, const SshHost&) = default;
};

// Whether somebody else may take a machine away at any time (Azure's low-priority and spot nodes).
enum class Tier { dedicated, low_priority };
Word describe(Tier tier);
std::string_view to_string(Tier tier);

// The number of machines of a cluster.
struct Scale {
  Tier tier = Tier::dedicated;
  int min_instances = 0;
  int max_instances = 1;
  Duration idle_time = seconds(120);  // a machine is removed after this time without work
  static void table(auto& s, auto&& see) {
    see(field<1>, "tier", s.tier);
    see(field<2>, "min_instances", s.min_instances, kNotNegative);
    see(field<3>, "max_instances", s.max_instances, kNotNegative);
    see(field<4>, "idle_time", s.idle_time, kNotNegative);
  }
  friend bool operator==(const Scale&, const Scale&) = default;
};
inline constexpr int kMaxInstances = 10'000;
inline constexpr Duration kMaxIdleTime = std::chrono::hours(24 * 30);

// The times at which a compute instance stops and starts by itself.
struct InstanceSettings {
  Duration idle_time = {};  // the instance stops after this time without work; zero: never
  std::vector<InstanceSchedule> schedules;
  friend bool operator==(const InstanceSettings&, const InstanceSettings&) = default;
};

// Allows more than the launcher accepts, so that the launcher can report the fault.
inline constexpr Rule kSettingsRule{
    .bytes = 64u << 10, .count = 2 * kMaxSettings, .each = 2 * kMaxSettingWords, .doubles = true};

struct ComputeSpec {
  std::string name;
  ComputeType type = ComputeType::local;
  std::string description;
  std::string location;  // a word for people; nothing depends on it
  std::map<std::string, std::string> tags;
  NodeSource source = NodeSource::none;
  std::vector<SshHost> hosts;           // for source ssh: the hosts in the order of the request
  TunnelUse tunnel = TunnelUse::unset;  // for source ssh
  std::string size = {};                // a name of the catalogue of sizes; "": none
  Scale scale = {};                     // for types amlcompute and kubernetes
  // For sources docker, slurm, kubernetes and command: see provider_settings.h.
  std::map<std::string, std::vector<std::string>> settings = {};
  InstanceSettings instance = {};  // for type computeinstance
  NodeLabels labels = {};  // the labels of each of its nodes, unless the node has another value
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kNameRule);
    see(field<2>, "type", s.type);
    see(field<3>, "description", s.description);
    see(field<4>, "location", s.location);
    see(field<5>, "tags", s.tags, {.count = 10 * kMaxComputeTags});
    see(field<6>, "source", s.source);
    see(field<7>, "hosts", s.hosts, {.count = 2 * kMaxHosts});
    see(field<8>, "tunnel", word_or<TunnelUse::unknown>(s.tunnel));
    see(field<9>, "size", s.size, kNameRule);
    see(field<10>, "scale", s.scale, {.unless_empty = true});
    see(field<11>, "settings", s.settings, kSettingsRule);
    see(field<40>, "shutdown_after", s.instance.idle_time, kNotNegative);
    see(field<41>, "schedules", s.instance.schedules, {.count = 2 * kMaxSchedules});
    see(field<42>, "labels", s.labels, {.count = 10 * kMaxNodeLabels});
  }
  static void mend(ComputeSpec& s) {  // before 0.7 a virtualmachine had no source: it was join
    if (s.source == NodeSource::none && s.type != ComputeType::local) s.source = NodeSource::join;
  }
  friend bool operator==(const ComputeSpec&, const ComputeSpec&) = default;
};
// Checks a target's name by Azure's rule: 3 to 24 letters, digits and '-', beginning with a letter.
// Returns invalid_argument with what is wrong.
Status check_compute_name(std::string_view name);
// Checks the name, the limits of all texts, and the hosts.
Status check(const ComputeSpec& spec);
// Checks every field against a small alphabet: they become words of ssh's command line.
Status check(const SshHost& host);
// True if a provider makes the target's nodes, so that it has machines.
bool has_provider(const ComputeSpec& spec);
// True if that provider installs the archive of scripts/bundle on each machine.
bool installs_bundle(NodeSource source);
// True if the launcher decides how many machines there are.
bool is_elastic(const ComputeSpec& spec);
// True if people start and stop the target.
bool is_instance(const ComputeSpec& spec);
// The most machines that the target can have.
int most_machines(const ComputeSpec& spec);
// "azureml:gpu" and "gpu" are both "gpu".
std::string_view without_azureml(std::string_view reference);

// ---- requests ----------------------------------------------------------------------------------

// The launcher answers with a ComputesReply that holds the new target. Creating an identical target
// again succeeds and changes nothing; a different target under a taken name is refused.
struct CreateCompute {
  static constexpr int kBody = 280;
  ComputeSpec spec;
  bool check = false;  // refused unless the provider accepts the settings; ssh is not asked
  static void table(auto& s, auto&& see) {
    see(field<1>, "spec", s.spec);
    see(field<2>, "check", s.check);
  }
  friend bool operator==(const CreateCompute&, const CreateCompute&) = default;
};
// Replaces description, location, tags and hosts; type and node source cannot change. The launcher
// detaches each host that the new list omits, and retries each failed attach at once.
struct UpdateCompute {
  static constexpr int kBody = 281;
  ComputeSpec spec;
  // Installs the launcher's version of the agent on each machine; running jobs go on.
  bool upgrade = false;
  bool check = false;  // checks the access as CreateCompute does, if a change concerns the provider
  static void table(auto& s, auto&& see) {
    see(field<1>, "spec", s.spec);
    see(field<2>, "upgrade", s.upgrade);
    see(field<3>, "check", s.check);
  }
  friend bool operator==(const UpdateCompute&, const UpdateCompute&) = default;
};
// Adds a host to a target of source ssh, or replaces the host of that name. Answered by
// ComputesReply.
struct AttachHosts {
  static constexpr int kBody = 285;
  std::string name;  // the target's name
  std::vector<SshHost> hosts;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kNameRule);
    see(field<2>, "hosts", s.hosts, {.count = 2 * kMaxHosts});
  }
  friend bool operator==(const AttachHosts&, const AttachHosts&) = default;
};
// The provider removes these machines from the target as soon as their nodes hold no part. Answered
// by ComputesReply at once; ListComputes shows how far it is.
struct DetachHosts {
  static constexpr int kBody = 286;
  std::string name;  // the target's name
  std::vector<std::string> hosts;
  // Gives up what runs there, and forgets a machine that cannot be reached.
  bool force = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kNameRule);
    see(field<2>, "hosts", s.hosts, {.count = 2 * kMaxHosts});
    see(field<3>, "force", s.force);
  }
  friend bool operator==(const DetachHosts&, const DetachHosts&) = default;
};
// Deletes a target. Refused while jobs that name it have not ended, or while it has nodes that
// joined with a token. Answered by Done. A target with machines detaches them first: it is deleted
// when the last one is gone.
struct DeleteCompute {
  static constexpr int kBody = 282;
  std::string name;
  bool force = false;  // the same field as in DetachHosts
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kNameRule);
    see(field<2>, "force", s.force);
  }
  friend bool operator==(const DeleteCompute&, const DeleteCompute&) = default;
};
// Starts a compute instance. Answered by ComputesReply at once, also if it is on already.
struct StartCompute {
  static constexpr int kBody = 311;
  std::string name;
  static void table(auto& s, auto&& see) { see(field<1>, "name", s.name, kNameRule); }
  friend bool operator==(const StartCompute&, const StartCompute&) = default;
};
// Stops an instance. Refused while a job runs there, unless `force`: then the job goes back to the
// queue. Answered as StartCompute is.
struct StopCompute {
  static constexpr int kBody = 312;
  std::string name;
  bool force = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kNameRule);
    see(field<2>, "force", s.force);
  }
  friend bool operator==(const StopCompute&, const StopCompute&) = default;
};
// Replaces the machine of an instance that is on by a new one. The rest is as for StopCompute.
struct RestartCompute {
  static constexpr int kBody = 313;
  std::string name;
  bool force = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kNameRule);
    see(field<2>, "force", s.force);
  }
  friend bool operator==(const RestartCompute&, const RestartCompute&) = default;
};
// Lists targets. Answered by ComputesReply.
struct ListComputes {
  static constexpr int kBody = 283;
  std::string name;  // only this target; "": all. A not_found error suggests the nearest name.
  bool history = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kNameRule);
    see(field<2>, "history", s.history);
  }
  friend bool operator==(const ListComputes&, const ListComputes&) = default;
};
// Asks what the target's provider printed and did. Answered by ComputeLogReply. The log of a
// deleted target stays readable.
struct ReadComputeLog {
  static constexpr int kBody = 287;
  std::string name;
  std::int64_t lines = 0;  // the newest so many; 0: as many as one reply may have
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kNameRule);
    see(field<2>, "lines", s.lines, kNotNegative);
  }
  friend bool operator==(const ReadComputeLog&, const ReadComputeLog&) = default;
};

// ---- views -------------------------------------------------------------------------------------

// A machine of a target whose nodes a provider makes.
struct MachineView {
  std::string name;
  // "wanted", "creating", "failed", "created", "joined", "lost", "leaving" or "removing".
  std::string state;
  std::string why;                           // the text of why_data
  Instant since;                             // the beginning of this state
  std::string step;                          // the provider's, which runs now; "": none
  std::string node;                          // name of its node; "": it has not joined
  std::map<std::string, std::string> about;  // the facts that the provider found out about the
                                             // machine
  // The step, code and text of the last failed call; "": none since the last success.
  std::string failed_step, failed_code, failure;
  std::int64_t failures = 0;  // the failures in a row
  Instant retry_at;           // ns = 0: none is planned
  Why why_data = {};          // why it is wanted, or why it leaves
  Why failure_data = {};      // why the last call failed; `failure` is its text
  // Why it is not there yet, or takes no work; its text is `about["reason"]`.
  Why waits_data = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kNameRule);
    see(field<2>, "state", s.state, kNameRule);
    see(field<3>, "why", s.why, kCutText);
    see(field<4>, "since", s.since);
    see(field<5>, "step", s.step);
    see(field<6>, "node", s.node, kNameRule);
    see(field<7>, "about", s.about, {.count = 2 * kMaxMachineFindings});
    see(field<8>, "failed_step", s.failed_step);
    see(field<9>, "failed_code", s.failed_code);
    see(field<10>, "failure", s.failure, kCutText);
    see(field<11>, "failures", s.failures, kNotNegative);
    see(field<12>, "retry_at", s.retry_at);
    see(field<13>, "why_data", s.why_data);
    see(field<14>, "failure_data", s.failure_data);
    see(field<15>, "waits_data", s.waits_data);
  }
  friend bool operator==(const MachineView&, const MachineView&) = default;
};
struct ComputeEvent {
  Instant at;
  std::string machine;  // "": the target
  std::string text;     // only in views: the text of why_data
  Why why_data = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "at", s.at);
    see(field<2>, "machine", s.machine, kNameRule);
    see(field<3>, "text", s.text, kCutText);
    see(field<4>, "why_data", s.why_data);
  }
  friend bool operator==(const ComputeEvent&, const ComputeEvent&) = default;
};

// How an elastic target's number of machines comes about.
struct ScalingView {
  std::int64_t wanted = 0;     // machines that there should be
  std::int64_t preparing = 0;  // the machines that have no node yet
  std::int64_t leaving = 0;
  Instant changed;        // when a machine was wanted or dismissed last; ns = 0: never
  std::string why;        // the text of why_data
  std::string failure;    // the text of failure_data
  Instant retry_at;       // ns = 0: now
  Why why_data = {};      // why the number changed
  Why failure_data = {};  // why the last machine could not be made; none: it was made
  static void table(auto& s, auto&& see) {
    see(field<1>, "wanted", s.wanted, kNotNegative);
    see(field<2>, "preparing", s.preparing, kNotNegative);
    see(field<3>, "leaving", s.leaving, kNotNegative);
    see(field<4>, "changed", s.changed);
    see(field<5>, "why", s.why, kCutText);
    see(field<6>, "failure", s.failure, kCutText);
    see(field<7>, "retry_at", s.retry_at);
    see(field<8>, "why_data", s.why_data);
    see(field<9>, "failure_data", s.failure_data);
  }
  friend bool operator==(const ScalingView&, const ScalingView&) = default;
};

// The reason for which a compute instance started or stopped.
enum class InstanceCause { user, schedule, idle };
Word describe(InstanceCause cause);
std::string_view to_string(InstanceCause cause);

// The state of a target of type computeinstance.
struct InstanceView {
  // "Starting", "Running", "Stopping", "Stopped" or "Deleting"; "" for targets of other types.
  std::string state;
  Instant changed;  // when it was started or stopped last
  InstanceCause cause = InstanceCause::user;
  std::string why;  // the text of why_data
  // The next action of its schedules.
  InstanceAction next_action = InstanceAction::start;
  Instant next_at;         // ns = 0: nothing
  std::string next_local;  // "2026-11-27T08:00:00 Europe/Berlin"
  std::string problem;     // the text of problem_data
  Why why_data = {};
  Why problem_data = {};  // why its schedules do not all work; none: they do
  static void table(auto& s, auto&& see) {
    see(field<1>, "state", s.state);
    see(field<2>, "changed", s.changed);
    see(field<3>, "cause", s.cause);
    see(field<4>, "why", s.why, kCutText);
    see(field<5>, "next_action", s.next_action);
    see(field<6>, "next_at", s.next_at);
    see(field<7>, "next_local", s.next_local);
    see(field<8>, "problem", s.problem);
    see(field<9>, "why_data", s.why_data);
    see(field<10>, "problem_data", s.problem_data);
  }
  friend bool operator==(const InstanceView&, const InstanceView&) = default;
};

struct ComputeView {
  struct Nodes {
    std::int64_t total = 0;
    std::int64_t idle = 0;         // can take work and have none
    std::int64_t busy = 0;         // the machines that have work
    std::int64_t unavailable = 0;  // have no work and cannot take any: LOST, drained, …
    static void table(auto& s, auto&& see) {
      see(field<1>, "total", s.total, kNotNegative);
      see(field<2>, "idle", s.idle, kNotNegative);
      see(field<3>, "busy", s.busy, kNotNegative);
      see(field<4>, "unavailable", s.unavailable, kNotNegative);
    }
    friend bool operator==(const Nodes&, const Nodes&) = default;
  };
  ComputeSpec spec;
  std::string pool;  // the target that owns the nodes: its own name, or "local" for an alias
  Instant created;   // ns = 0: created with the launcher
  std::string created_by;
  Nodes nodes;
  std::int64_t queued_jobs = 0;       // jobs for this target that wait
  std::int64_t running_jobs = 0;      // jobs for this target that are placed and have not ended
  std::vector<MachineView> machines;  // the machines, by name
  std::string leaving;                // the text of leaving_data
  std::vector<ComputeEvent> history;  // oldest first; only if asked for
  ScalingView scaling = {};           // for an elastic target
  InstanceView instance = {};
  Why leaving_data = {};  // why the target is being deleted; none: it stays
  static void table(auto& s, auto&& see) {
    see(field<1>, "spec", s.spec);
    see(field<2>, "pool", s.pool, kNameRule);
    see(field<3>, "created", s.created);
    see(field<4>, "created_by", s.created_by);
    see(field<5>, "nodes", s.nodes);
    see(field<6>, "queued_jobs", s.queued_jobs, kNotNegative);
    see(field<7>, "running_jobs", s.running_jobs, kNotNegative);
    see(field<8>, "machines", s.machines, {.count = 2 * kMaxInstances});
    see(field<9>, "leaving", s.leaving);
    see(field<10>, "history", s.history, {.count = 2 * kMaxComputeEvents});
    see(field<11>, "scaling", s.scaling);
    see(field<40>, "instance", s.instance);
    see(field<41>, "leaving_data", s.leaving_data);
  }
  friend bool operator==(const ComputeView&, const ComputeView&) = default;
};
struct ComputesReply {  // The targets by name; "local" first.
  static constexpr int kBody = 284;
  std::vector<ComputeView> computes;
  static void table(auto& s, auto&& see) {
    see(field<1>, "computes", s.computes, {.count = kMaxComputes + 1});
  }
  friend bool operator==(const ComputesReply&, const ComputesReply&) = default;
};
struct ComputeLogReply {
  static constexpr int kBody = 288;
  std::string text;  // whole lines, the newest last; at most kMaxComputeLogBytes
  static void table(auto& s, auto&& see) {
    see(field<1>, "text", s.text, {.bytes = 2 * kMaxComputeLogBytes});
  }
  friend bool operator==(const ComputeLogReply&, const ComputeLogReply&) = default;
};

}  // namespace lockstep
