#include "launcher/core/nodes/nodes.h"

#include <fmt/format.h>

#include "common/domain/why/nodes/losses.h"
#include "common/domain/why/nodes/machines.h"
#include "launcher/core/access/users.h"
#include "launcher/core/attempts/fences.h"
#include "launcher/core/base/counted.h"
#include "launcher/core/base/no_such.h"
#include "launcher/core/names/environment_requests.h"
#include "launcher/core/nodes/machine_claims.h"
#include "launcher/core/nodes/tokens.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kMaxNodeNameBytes = 63;  // the limit of a host name
constexpr std::size_t kLeastTokenIdCharacters = 6;
constexpr Duration kTokenSlack = seconds(60);  // between the making of a request and its arrival

// A node's name as it can stand in a prefix, a path or a table: other characters become '-'.
std::string clean_name(const std::string& wanted) {
  std::string name = wanted.substr(0, kMaxNodeNameBytes);
  for (char& c : name) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-';
    if (!good) c = '-';
  }
  // A name of digits alone could be taken for an id.
  if (name.find_first_not_of("0123456789") == std::string::npos) name = "node" + name;
  return name;
}

// Has the provider remove the node's machine and not attach it again, because the node's key may be
// stolen.
void dismiss_machine(Context& core, const Node& node, const std::string& by) {
  const Compute* compute = core.state.computes().find(node.pool);
  if (compute == nullptr) return;
  const std::string machine = node.machine;
  ComputeSpec spec = compute->spec;
  std::erase_if(spec.hosts, [&](const SshHost& host) { return host.name == machine; });
  if (spec != compute->spec) core.emit(ComputeUpdated{spec, by});
  core.emit(MachineLeaving{node.pool, machine, MachineNodeRevoked{by}, false});
}

std::string free_node_name(const State& state, const std::string& wanted) {
  const std::string base = clean_name(wanted);
  std::string name = base;
  for (int i = 2; state.node_called(name) != nullptr; ++i) name = fmt::format("{}-{}", base, i);
  return name;
}

bool must_wait(const CoreConfig& config, Approval approval) {
  switch (approval) {
    case Approval::as_configured: return config.approve_nodes;
    case Approval::required: return true;
    case Approval::waived: return false;
  }
  return true;
}

}  // namespace

// Gives up a node's parts. Running ones count as lost. The results of ended parts without a verdict
// are ignored, because the node may have made them up.
void give_up_parts(Context& core, const Node& node, const Why& why) {
  const NodeId id = node.id;
  const std::map<AttemptId, int> parts = node.parts;
  for (const auto& [attempt_id, rank] : parts) {
    const Attempt& attempt = *core.state.attempt(attempt_id);
    const Part& part = attempt.parts[static_cast<std::size_t>(rank)];
    if (attempt.ended)
      core.emit(PartReleased{attempt_id, id, true});
    else
      core.emit(PartGone{attempt_id, id, Cause::node_lost, why,
                         fence_of(core.cluster(), attempt, part), true});
  }
}

namespace {

// The node's labels, if they must be kept. Labels belong to the machine; a provider's machine has
// them with its target.
NodeLabels labels_to_keep(const Node& node) {
  const bool is_known = node.machine.empty() && !node.machine_id.empty();
  return is_known ? node.labels : NodeLabels();
}

void emit_removed(Context& core, const Node& node, const std::string& by) {
  const PublicKey key = node.key;
  core.emit(NodeRemoved{node.id, by, labels_to_keep(node)});
  core.act(RevokeNode{key});
}

}  // namespace

void remove_node(Context& core, NodeId id, const Why& why, const std::string& by) {
  give_up_parts(core, *core.state.node(id), why);
  emit_removed(core, *core.state.node(id), by);
}

void react(Context& core, const DrainInput& input) {
  if (!permitted(core, input.reply, input.caller, Permission::drain_nodes)) return;
  const Node* node = core.state.node_called(input.name_or_id);
  if (node == nullptr) {
    core.refuse(
        input.reply, ErrorCode::not_found,
        fmt::format("there is no node '{}'; `lockstep node list` shows all", input.name_or_id));
    return;
  }
  const Machine* machine = core.state.computes().find_machine(node->pool, node->machine);
  if (!input.drain && machine != nullptr && machine->is_leaving())
    return core.refuse(input.reply, ErrorCode::conflict,
                       fmt::format("node {} takes no work any more, because its machine leaves: {}",
                                   node->name, words::text_of(machine->why)));
  const std::optional<std::string> wanted =
      input.drain ? std::optional<std::string>(input.reason) : std::nullopt;
  if (node->drain != wanted) core.emit(NodeDrainChanged{node->id, input.drain, input.reason});
  std::string message = "node " + node->name;
  if (!input.drain && node->waits_for_approval)
    message += " is not drained, but gets no work before an admin approves it";
  else if (!input.drain && node->notice)
    message += " is not drained, but takes no work, because its machine is taken away: " +
               words::text_of(node->notice->why);
  else if (!input.drain)
    message += " takes work again";
  else if (node->parts.empty())
    message += " is drained";
  else
    message +=
        " takes no new work; " + counted(node->parts.size(), "attempt") + " on it may still run";
  core.act(ReplyDone{input.reply, std::move(message)});
}

void react(Context& core, const ApproveNodeInput& input) {
  if (!permitted(core, input.reply, input.caller, Permission::admit_nodes)) return;
  const Node* node = core.state.node_called(input.name_or_id);
  if (node == nullptr)
    return core.refuse(
        input.reply, ErrorCode::not_found,
        fmt::format("there is no node '{}'; `lockstep node list` shows all", input.name_or_id));
  if (node->waits_for_approval) core.emit(NodeApproved{node->id, name_of(input.caller)});
  core.act(ReplyDone{input.reply, "node " + node->name + " is approved"});
}

void react(Context& core, const LabelInput& input) {
  if (!permitted(core, input.reply, input.caller, Permission::drain_nodes)) return;
  const LabelNode& ask = input.ask;
  const Node* node = core.state.node_called(ask.name_or_id);
  if (node == nullptr)
    return core.refuse(
        input.reply, ErrorCode::not_found,
        fmt::format("there is no node '{}'; `lockstep node list` shows all", ask.name_or_id));
  NodeLabels labels = node->labels;
  for (const std::string& key : ask.remove) labels.erase(key);
  for (const auto& [key, value] : ask.set) labels[key] = value;
  if (const Status good = check_labels(labels); !good)
    return core.refuse(input.reply, good.error().code, good.error().message);
  if (labels != node->labels) core.emit(NodeLabelsChanged{node->id, labels, name_of(input.caller)});
  const NodeLabels all = core.state.labels_of(*node);
  std::string message =
      all.empty() ? fmt::format("node {} has no labels", node->name)
                  : fmt::format("node {} has the labels {}", node->name, labels_text(all));
  for (const std::string& key : ask.remove)
    if (all.count(key) != 0)
      message += fmt::format(
          "; {} is a label of all nodes of target '{}': remove it in the "
          "target's file",
          key, node->pool);
  core.act(ReplyDone{input.reply, std::move(message)});
}

namespace {

// Answers a request about a node that does not exist.
void answer_without_node(Context& core, const RemoveNodeInput& input) {
  // The client asks again if the answer was lost.
  for (const auto& [id, removed] : core.state.removed_nodes())
    if (removed.name == input.name_or_id || std::to_string(id.value) == input.name_or_id)
      return core.act(ReplyDone{input.reply, "node " + removed.name + " is removed"});
  core.refuse(
      input.reply, ErrorCode::not_found,
      fmt::format("there is no node '{}'; `lockstep node list` shows all", input.name_or_id));
}

// Removes at once everything of a revoked node: its machine, its parts, and the locks that it
// solved.
void revoke(Context& core, const Node& node, const std::string& by) {
  if (!node.machine.empty()) dismiss_machine(core, node, by);
  give_up_parts(core, node, NodeRevoked{by});
  drop_locks_of(core, node.id, by);  // the packages in them may come from the node
  core.samples.forget(node.pool, node.machine);
}

// Why the node may not be removed while it is not revoked.
Status check_removable(const Context& core, const Node& node) {
  if (!node.machine.empty())
    return make_error(
        ErrorCode::conflict,
        fmt::format("node {} is a machine of target '{}', which would attach it again; `lockstep "
                    "compute detach {} --host {}` removes it",
                    node.name, node.pool, node.pool, node.machine));
  if (core.watches.liveness(node.id) == Liveness::alive)
    return make_error(
        ErrorCode::conflict,
        fmt::format("node {} is ALIVE; end its lockstep-agent first, and remove it when "
                    "`lockstep node list` shows it as UNKNOWN or LOST",
                    node.name));
  return {};
}

}  // namespace

void react(Context& core, const RemoveNodeInput& input) {
  if (!permitted(core, input.reply, input.caller,
                 input.now ? Permission::revoke_nodes : Permission::remove_nodes))
    return;
  const Node* node = core.state.node_called(input.name_or_id);
  if (node == nullptr) return answer_without_node(core, input);
  if (input.now)
    revoke(core, *node, name_of(input.caller));
  else if (const Status may_go = check_removable(core, *node); !may_go)
    return core.refuse(input.reply, may_go.error().code, may_go.error().message);
  const std::string name = node->name;
  if (!node->parts.empty())
    return core.refuse(
        input.reply, ErrorCode::conflict,
        fmt::format("node {} still has {} (the first is {}); remove the node when it is LOST, or "
                    "when its attempts have ended and their logs are collected",
                    name, counted(node->parts.size(), "attempt"),
                    to_string(node->parts.begin()->first)));
  emit_removed(core, *node, name_of(input.caller));
  core.act(ReplyDone{input.reply, "node " + name + " is removed"});
}

void react(Context& core, const TokenInput& input) {
  if (!permitted(core, input.reply, input.caller, Permission::admit_nodes)) return;
  if (input.uses < 1 || input.expires <= core.now) {
    core.refuse(input.reply, ErrorCode::invalid_argument,
                "a join token needs at least one use and an expiry in the future");
    return;
  }
  const bool is_persons = !std::holds_alternative<LauncherItself>(input.caller);
  if (is_persons &&
      (input.uses > kMaxTokenUses || input.expires > core.now + kMaxTokenValidFor + kTokenSlack))
    return core.refuse(input.reply, ErrorCode::invalid_argument,
                       fmt::format("a join token may be used {} times at most, and for {} days at "
                                   "most: make several (`lockstep node token list` shows them)",
                                   kMaxTokenUses, kMaxTokenValidFor / std::chrono::hours(24)));
  const std::string target = input.compute.empty() ? std::string(kLocalCompute) : input.compute;
  if (!core.state.computes().has(target)) {
    const Error error = no_such_compute(core.state, target);
    return core.refuse(input.reply, error.code, error.message);
  }
  if (core.state.tokens().count(input.secret_hash) == 0)
    core.emit(TokenCreated{input.secret_hash, input.expires, input.uses, input.approval,
                           core.state.computes().pool_of(target), "",
                           is_persons ? name_of(input.caller) : ""});
  core.act(ReplyDone{input.reply, "token created"});
}

void react(Context& core, const RevokeTokenInput& input) {
  if (!permitted(core, input.reply, input.caller, Permission::revoke_tokens)) return;
  std::vector<Digest> meant;
  if (input.id.size() >= kLeastTokenIdCharacters)
    for (const auto& [hash, token] : core.state.tokens())
      if (hash.hex().starts_with(input.id)) meant.push_back(hash);
  if (meant.size() != 1)
    return core.refuse(input.reply,
                       meant.empty() ? ErrorCode::not_found : ErrorCode::invalid_argument,
                       fmt::format("{} '{}'; `lockstep node token list` shows their ids",
                                   meant.empty() ? "no token (any more) has an id that begins with"
                                                 : "more than one token has an id that begins with",
                                   input.id));
  const int used = core.state.tokens().at(meant.front()).used;
  core.emit(TokenForgotten{meant.front()});
  core.act(ReplyDone{
      input.reply,
      fmt::format("token {} is revoked{}", token_id(meant.front()),
                  used == 0 ? "; no node had joined with it"
                            : fmt::format("; {} that joined with it {}: `lockstep "
                                          "node revoke` removes one",
                                          counted(used, "node"), used == 1 ? "stays" : "stay"))});
}

namespace {

// Whether an agent may join as the node of its machine. False: the request was refused. If the
// machine had a node before, that node is removed: the agent's home was lost, so none of its parts
// can run.
bool may_join_as_machine(Context& core, const JoinInput& input, const Token& grant) {
  const Machine* machine = core.state.computes().find_machine(grant.pool, grant.machine);
  if (machine == nullptr || machine->is_leaving()) {
    core.refuse(
        input.reply, ErrorCode::permission_denied,
        fmt::format("machine {} is being removed from target '{}'", grant.machine, grant.pool));
    return false;
  }
  if (machine->node.value != 0)
    remove_node(core, machine->node, AgentReplaced{}, "a new agent of its machine");
  return true;
}

// Why the key or the token does not allow the agent to join.
Status check_grant(const Context& core, const JoinInput& input, const Token& grant) {
  if (const RemovedNode* removed = core.state.removed_with_key(input.key))
    return make_error(ErrorCode::permission_denied,
                      fmt::format("this is the key of node {}, which was removed; remove the "
                                  "agent's keys and identity.json, so that the agent gets new ones",
                                  removed->name));
  if (grant.expires <= core.now || grant.used >= grant.uses)
    return make_error(
        ErrorCode::permission_denied,
        fmt::format("the join token {}; make a new one with `lockstep node token`",
                    grant.expires <= core.now
                        ? "expired at " + to_string(grant.expires)
                        : "was used " + counted(grant.used, "time") + ", as often as it allows"));
  const Machine* const machine = core.state.computes().find_machine(grant.pool, grant.machine);
  if (const Why why =
          refused_as_second(core, input.machine, machine == nullptr ? NodeId() : machine->node))
    return make_error(ErrorCode::conflict, words::text_of(why));
  return {};
}

}  // namespace

void react(Context& core, const JoinInput& input) {
  const auto token = core.state.tokens().find(input.secret_hash);
  if (token == core.state.tokens().end()) {
    core.refuse(input.reply, ErrorCode::permission_denied,
                "the join token is not known to this launcher; make a new one with "
                "`lockstep node token`");
    return;
  }
  // The reply to an earlier request was lost, and the same node asks again.
  if (const Node* node = core.state.node_with_key(input.key)) {
    core.act(AllowNode{node->id, node->key});
    core.act(ReplyJoined{input.reply, node->id, node->name});
    return;
  }
  const Token& grant = token->second;
  if (const Status granted = check_grant(core, input, grant); !granted)
    return core.refuse(input.reply, granted.error().code, granted.error().message);
  if (!grant.machine.empty() && !may_join_as_machine(core, input, grant)) return;
  const NodeId id = core.state.next_node_id();
  const std::string name = free_node_name(core.state, input.name);
  core.emit(NodeJoined{id, name, input.key, input.secret_hash,
                       must_wait(core.config, grant.approval), grant.pool, grant.machine,
                       input.machine.machine_id});
  if (const NodeLabels labels = core.state.kept_labels(input.machine.machine_id, name);
      grant.machine.empty() && !labels.empty())
    core.emit(NodeLabelsChanged{id, labels, ""});
  // Earlier calls of the provider made other tokens for this machine, which are no longer needed.
  if (!grant.machine.empty()) forget_tokens(core, grant.pool, grant.machine, &input.secret_hash);
  core.act(AllowNode{id, input.key});
  core.act(ReplyJoined{input.reply, id, name});
}

}  // namespace lockstep::launcher
