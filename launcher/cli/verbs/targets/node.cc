#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/io/clock.h"
#include "launcher/api/json/cluster.h"
#include "launcher/cli/text/fabric_view.h"
#include "launcher/cli/text/view_text.h"
#include "launcher/cli/verbs/targets/target_verbs.h"

namespace lockstep::cli {

namespace {

constexpr const char* kMaxValidForText = "30d";

struct NodeOptions {
  std::string name;
  std::vector<std::string> names;   // for approve
  std::vector<std::string> labels;  // KEY=VALUE, or KEY- to remove it
  std::string reason;
  std::string valid_for = "60m";
  int uses = 1;
  bool approve = false;
  std::string compute;
  bool now = false;
  bool history = false;
  bool fabric = false;
  Format format = Format::table;
};

int list(Context& context, const NodeOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<NodesReply>(ListNodes{});
  if (!reply) return fail(context.terminal, reply.error());
  return print(context, options.format, api::to_json(reply->nodes), node_table(reply->nodes));
}

// "" if the launcher does not report it.
std::string launcher_version(Connection& connection) {
  const auto reply = connection.ask_for<StatusReply>(GetStatus{});
  return reply ? reply->status.version : "";
}

std::string shown(Connection& connection, const NodeOptions& options, const NodeView& node) {
  if (options.fabric) return fabric_text(node);
  const bool is_compared = node.other_version && options.format == Format::table;
  return node_text(node, io::SystemClock().now(), is_compared ? launcher_version(connection) : "");
}

int show(Context& context, const NodeOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<NodesReply>(ShowNode{options.name, options.history});
  if (!reply) return fail(context.terminal, reply.error());
  if (reply->nodes.empty())
    return fail(
        context.terminal,
        make_error(ErrorCode::not_found, fmt::format("there is no node '{}'; see `lockstep node "
                                                     "list`",
                                                     options.name)));
  const NodeView& node = reply->nodes.front();
  return print(context, options.format, api::to_json(node), shown(**connection, options, node));
}

// Prints a token. It is a secret, so it goes to standard output only, for a file that the agent
// reads.
int token(Context& context, const NodeOptions& options) {
  const Duration valid_for = parse_duration(options.valid_for);
  if (valid_for <= Duration::zero() || valid_for > kMaxTokenValidFor)
    return fail(context.terminal,
                make_error(ErrorCode::invalid_argument,
                           fmt::format("node token: --valid-for '{}' is not a time up to {}; write "
                                       "90s, 5m, 2h, 30d",
                                       options.valid_for, kMaxValidForText)),
                kExitUsage);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply =
      (*connection)
          ->ask_for<TokenReply>(CreateToken{
              valid_for, options.uses,
              options.approve ? Approval::required : Approval::as_configured, options.compute});
  if (!reply) return fail(context.terminal, reply.error());
  return print(context, options.format, api::to_json(api::NewToken{*reply, options.uses}),
               reply->token + "\n");
}

// "valid", or why no node can join with the token any more.
std::string state_of(const TokenView& token, Instant now) {
  if (token.expires <= now) return "expired";
  if (token.used >= token.uses) return "used up";
  return token.needs_approval ? "valid,unapproved" : "valid";
}

int list_tokens(Context& context, const NodeOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<TokensReply>(ListTokens{});
  if (!reply) return fail(context.terminal, reply.error());
  const Instant now = io::SystemClock().now();
  Table table({"ID", "COMPUTE", "STATE", "USED", "EXPIRES", "CREATED", "BY"});
  for (const TokenView& token : reply->tokens)
    table.add({token.id,
               token.machine.empty() ? token.compute : token.compute + "/" + token.machine,
               state_of(token, now), fmt::format("{} of {}", token.used, token.uses),
               to_string(token.expires), token.created.ns == 0 ? "-" : to_string(token.created),
               token.by.empty() ? "-" : token.by});
  return print(context, options.format, api::to_json(reply->tokens),
               reply->tokens.empty() ? "no tokens\n" : table.text());
}

int revoke_token(Context& context, const NodeOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<Done>(RevokeToken{options.name});
  if (!reply) return fail(context.terminal, reply.error());
  context.terminal.print_line(reply->message);
  return 0;
}

int set_drain(Context& context, const NodeOptions& options, bool drain) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<Done>(DrainNode{options.name, drain, options.reason});
  if (!reply) return fail(context.terminal, reply.error());
  if (!reply->message.empty()) context.terminal.print_line(reply->message);
  return 0;
}

int drain(Context& context, const NodeOptions& options) {
  return set_drain(context, options, true);
}
int resume(Context& context, const NodeOptions& options) {
  return set_drain(context, options, false);
}

// Approves each node separately: a failure for one does not stop the others.
int approve(Context& context, const NodeOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  int code = 0;
  for (const std::string& name : options.names) {
    const auto reply = (*connection)->ask_for<Done>(ApproveNode{name});
    if (reply)
      context.terminal.print_line(reply->message);
    else
      code = fail(context.terminal, reply.error());
  }
  return code;
}

// Reads labels as kubectl does: KEY=VALUE sets a label, KEY- removes it.
Result<LabelNode> labels_of(const NodeOptions& options) {
  LabelNode request;
  request.name_or_id = options.name;
  for (const std::string& word : options.labels) {
    const auto equals = word.find('=');
    const bool removes = equals == std::string::npos && word.size() > 1 && word.back() == '-';
    if (equals == std::string::npos && !removes)
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("node label: '{}' is neither KEY=VALUE nor KEY-", word));
    const std::string key = word.substr(0, removes ? word.size() - 1 : equals);
    if (const Status good = check_label_key(key); !good) return good.error().within("node label");
    if (removes) {
      request.remove.push_back(key);
      continue;
    }
    const std::string value = word.substr(equals + 1);
    if (const Status good = check_label_value(value); !good)
      return good.error().within("node label");
    if (!request.set.emplace(key, value).second)
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("node label: '{}' is set twice", key));
  }
  return request;
}

int label(Context& context, const NodeOptions& options) {
  const auto request = labels_of(options);
  if (!request) return fail(context.terminal, request.error(), kExitUsage);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<Done>(*request);
  if (!reply) return fail(context.terminal, reply.error());
  context.terminal.print_line(reply->message);
  return 0;
}

int remove(Context& context, const NodeOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<Done>(RemoveNode{options.name, options.now});
  if (!reply) return fail(context.terminal, reply.error());
  context.terminal.print_line(reply->message);
  return 0;
}

using Verb = int (*)(Context&, const NodeOptions&);

// The group, and the options that all its verbs share.
struct NodeVerbs {
  VerbTable table;
  CLI::App& group;
  std::shared_ptr<NodeOptions> options = std::make_shared<NodeOptions>();

  void perform(CLI::App& verb, Verb work) const {
    verb.callback([table = table, options = options, work] {
      table.action = [options, work](Context& context) { return work(context, *options); };
    });
  }
  CLI::App* add(const char* name, const char* what, Verb work) const {
    auto* verb = group.add_subcommand(name, what);
    perform(*verb, work);
    return verb;
  }
  // Adds a verb that takes the name of one node.
  CLI::App* add_named(const char* name, const char* what, Verb work) const {
    auto* verb = add(name, what, work);
    verb->add_option("NAME", options->name, "the node's name or id")
        ->required()
        ->check(filled("`lockstep node list` shows the names"));
    return verb;
  }
};

void add_show(const NodeVerbs& verbs) {
  auto* show_verb = verbs.add_named("show", "show one node in full", show);
  show_verb->add_flag("--history", verbs.options->history,
                      "also when it joined, was lost, came back, was drained, …");
  show_verb->add_flag("--fabric", verbs.options->fabric,
                      "its interfaces, RDMA ports and GPUs, and the settings of ranks that follow");
  add_format(*show_verb, verbs.options->format);
}

// Adds `node token list` and `node token revoke`.
void add_verbs_of_tokens(const NodeVerbs& verbs, CLI::App& token_verb) {
  auto* list_verb = token_verb.add_subcommand("list", "the tokens, without their secrets");
  verbs.perform(*list_verb, list_tokens);
  add_format(*list_verb, verbs.options->format);
  auto* end_verb = token_verb.add_subcommand("revoke", "let no node join with a token any more");
  end_verb->add_option("ID", verbs.options->name, "its id, or the first characters of it")
      ->required()
      ->check(filled("`lockstep node token list` shows the ids"));
  verbs.perform(*end_verb, revoke_token);
}

void add_token(const NodeVerbs& verbs) {
  auto* token_verb = verbs.add("token", "print a token that lets a node join", token);
  token_verb->callback([table = verbs.table, options = verbs.options, token_verb] {
    // List and revoke have actions of their own.
    if (!token_verb->get_subcommands().empty()) return;
    table.action = [options](Context& context) { return token(context, *options); };
  });
  token_verb->footer(
      "\n  lockstep node token --uses 4 > token   (a secret; keep it in a file of mode 0600)\n"
      "  lockstep-agent --launcher tcp://HOST:PORT --token-file token   on each node\n"
      "  lockstep node token list               the tokens that there are, without their secrets\n"
      "  lockstep node token revoke ID          no node joins with it any more");
  add_verbs_of_tokens(verbs, *token_verb);
  token_verb
      ->add_option("--uses", verbs.options->uses,
                   "how many nodes may join with it (default 1, at most 1000)")
      ->check(whole_number(1, kMaxTokenUses));
  token_verb
      ->add_option("--valid-for", verbs.options->valid_for,
                   "how long the token is valid (default 60m, at most 30d)")
      ->check(filled("leave it out for 60m"));
  token_verb
      ->add_option("--compute", verbs.options->compute,
                   "the compute target of the nodes that join with it (default local)")
      ->check(filled("leave it out for target local"));
  token_verb->add_flag("--approve", verbs.options->approve,
                       "nodes that join with it get no work before `lockstep node approve`");
  add_format(*token_verb, verbs.options->format);
}

void add_label(const NodeVerbs& verbs) {
  auto* label_verb = verbs.add_named("label", "set and remove labels of a node", label);
  label_verb->add_option("LABEL", verbs.options->labels, "KEY=VALUE sets a label, KEY- removes it")
      ->required();
  label_verb->footer(
      "\n  lockstep node label n1 rack=7 example.com/zone=a old-\n"
      "  `lockstep run --label rack=7` and `lockstep.labels` in a job file choose nodes by them.");
}

// Adds `remove` and `revoke`: both end a node's membership; only the latter may end attempts.
void add_removals(const NodeVerbs& verbs) {
  verbs.add_named("remove", "remove a node that no longer exists", remove)
      ->footer(
          "\n  Refused while the node is ALIVE or holds an attempt. The node's key is revoked: if "
          "its agent\n"
          "  comes back, the agent ends what runs on the node and exits.");
  auto* revoke_verb = verbs.add_named("revoke", "remove a node whose key may be stolen", remove);
  revoke_verb->add_flag("--now", verbs.options->now,
                        "also while the node is ALIVE or holds attempts");
  revoke_verb->footer(
      "\n  Like `node remove`, this revokes the node's key permanently. With --now, attempts on "
      "the node\n"
      "  are given up and started again on other nodes; this does not count as a retry.");
}

}  // namespace

void add_node_verbs(VerbTable table) {
  CLI::App* const added = table.add("node", "show, add, drain and remove nodes");
  if (added == nullptr) return;
  added->require_subcommand(1);
  const NodeVerbs verbs{table, *added};
  add_format(*verbs.add("list", "all nodes", list), verbs.options->format);
  add_show(verbs);
  add_token(verbs);
  auto* approve_verb = verbs.add("approve", "approve nodes, so that they get work", approve);
  approve_verb->add_option("NAME", verbs.options->names, "the nodes' names or ids")
      ->required()
      ->check(filled("`lockstep node list` shows the names"));
  add_label(verbs);
  auto* drain_verb = verbs.add_named("drain", "place no new jobs on a node", drain);
  drain_verb->add_option("--reason", verbs.options->reason, "shown in node list");
  verbs.add_named("resume", "place new jobs on a drained node again", resume);
  add_removals(verbs);
}

}  // namespace lockstep::cli
