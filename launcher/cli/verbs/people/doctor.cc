#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/io/file_system.h"
#include "common/io/process.h"
#include "common/io/programs/run_program.h"
#include "common/wire/findings.h"
#include "launcher/cli/verbs/people/account_checks.h"
#include "launcher/cli/verbs/people/people_verbs.h"

namespace lockstep::cli {

namespace {

constexpr Duration kNodeTimeout = seconds(60);

// The agent's program examines the machine, because this side knows nothing of nodes.
Findings examine_node(const std::string& home) {
  const auto agent = io::find_program("lockstep-agent");
  if (!agent) return {};  // the fault is reported already
  std::vector<std::string> words{*agent, "doctor", "-o", "json"};
  if (!home.empty()) words.insert(words.end(), {"--home", home});
  const auto answer = io::run_program(words, kNodeTimeout);
  const auto found =
      answer ? wire::decode_findings(answer->text) : Result<Findings>(answer.error());
  if (found) return *found;
  return {{"node", "lockstep-agent doctor", Verdict::problem, found.error().message,
           answer ? answer->errors : ""}};
}

void append(Findings& all, Findings more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// The home of the agent to examine: a local node's, if there is one.
std::string usual_agent_home(const Context& context) {
  const std::string local = context.home.node(LocalHome::node_name(0));
  return context.launcher.empty() && io::exists(local) ? local : "";
}

int doctor(Context& context, const std::string& agent_home, Format format) {
  Findings all = examine_programs();
  append(all, examine_home(context.home, context.launcher));
  append(all, examine_launcher(context));
  append(all, examine_node(agent_home.empty() ? usual_agent_home(context) : agent_home));
  print(context, format, Json::parse(wire::encode(all)), findings_text(all));
  return all_well(all) ? 0 : kExitFailure;
}

}  // namespace

void add_doctor_verb(VerbTable table) {
  struct Options {
    std::string agent_home;
    Format format = Format::table;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* const verb = table.add(
      "doctor", "find problems on this machine; exit code 1 if there are any. Starts nothing");
  if (verb == nullptr) return;
  verb->add_option("--agent-home", options->agent_home,
                   "the --home of the agent to check (default: the local node's, else "
                   "lockstep-agent's default)");
  add_format(*verb, options->format);
  verb->callback([table, options] {
    table.action = [options](Context& context) {
      return doctor(context, options->agent_home, options->format);
    };
  });
}

}  // namespace lockstep::cli
