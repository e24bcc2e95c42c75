// `lockstep job diagnose`: everything known about a job's ranks now, shown and kept with the job.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/io/clock.h"
#include "launcher/cli/attach/diagnosis.h"
#include "launcher/cli/attach/short_attachments.h"
#include "launcher/cli/attach/stack_answers.h"
#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/verbs/ranks/rank_verbs.h"

namespace lockstep::cli {

namespace {

constexpr Duration kForStacks = seconds(120);  // a tool may take 30 s for each process
constexpr Duration kToKeep = seconds(30);
constexpr const char* kExamples = R"(
  lockstep job diagnose @last
  lockstep job diagnose NAME -o json
What the ranks wait for, where each stands, the network and the clocks of its nodes, and the stacks
of all ranks. It is kept among the job's logs: `lockstep job files NAME`.)";

struct DiagnoseOptions {
  std::string name;
  bool native = false, not_kept = false;
  Format format = Format::table;
};

// Requests stacks and standings from the nodes where ranks run.
void ask_ranks(Connection& connection, const DiagnoseOptions& options, Diagnosis* diagnosis) {
  const auto nodes = chosen_ranks("job diagnose", diagnosis->job, {});
  if (!nodes) {
    diagnosis->no_stacks = nodes.error().message;
    return;
  }
  auto answers = call_all(
      connection, openings_for(diagnosis->job, *nodes, false, AttachStacks{options.native, true}),
      kForStacks);
  if (!answers) {
    diagnosis->no_stacks = answers.error().message;
    return;
  }
  for (std::size_t i = 0; i < nodes->size(); ++i) {
    const NodeRanks& node = (*nodes)[i];
    for (ShownStanding& one : take_standings(node.node_name, node.ranks, &(*answers)[i].output))
      diagnosis->standings.push_back(std::move(one));
    add_stacks_of(node, (*answers)[i], &diagnosis->stacks);
  }
  sort_groups(&diagnosis->stacks);
}

// Requests the clocks of nodes that the caller may see.
void ask_clocks(Connection& connection, Diagnosis* diagnosis) {
  const auto reply = connection.ask_for<NodesReply>(ListNodes{});
  if (!reply) return;
  std::map<NodeId, const NodeView*> measured;
  for (const NodeView& node : reply->nodes)
    if (node.clock_uncertainty) measured.emplace(node.id, &node);
  for (const PartView& part : diagnosis->job.attempts.back().parts)
    if (const auto node = measured.find(part.node); node != measured.end())
      diagnosis->clocks.push_back(
          {node->second->name, {node->second->clock_ahead, *node->second->clock_uncertainty}});
}

// Writes a file into the logs of the node of the first running rank, as the job's user.
Status keep(Connection& connection, const JobView& job, const std::string& file,
            std::string content) {
  TRY_ASSIGN(const auto nodes, chosen_ranks("job diagnose", job, {}));
  AttachProgram program;
  program.argv = {"/bin/sh", "-c", "mkdir -p logs && cat > \"logs/$1\"", "sh", file};
  program.takes_input = true;
  const std::vector<NodeRanks> first(nodes.begin(), nodes.begin() + 1);
  TRY_ASSIGN(const auto answers, call_all(connection, openings_for(job, first, true, program),
                                          kToKeep, std::move(content)));
  const AttachAnswer& answer = answers.front();
  if (answer.error) return *answer.error;
  if (answer.end.code != 0)
    return make_error(ErrorCode::unavailable,
                      answer.end.message.empty()
                          ? fmt::format("writing it ended with code {}", answer.end.code)
                          : answer.end.message);
  return {};
}

void keep_both(Context& context, Connection& connection, const Diagnosis& diagnosis,
               const std::string& text) {
  const std::string file = diagnosis_file(diagnosis.at);
  Status kept = keep(connection, diagnosis.job, file + ".txt", text);
  if (kept)
    kept = keep(connection, diagnosis.job, file + ".json", json_text(api::to_json(diagnosis)));
  const std::string& name = diagnosis.job.spec.name;
  context.terminal.print_line(
      kept ? fmt::format("kept with the job: logs/{}.txt and .json; `lockstep job files {}`", file,
                         name)
           : "not kept with the job: " + in_one_line(kept.error().message));
}

int diagnose(Context& context, const DiagnoseOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  auto job = chosen_job(**connection, context.terminal, "job diagnose", options.name, "",
                        "diagnosis this is");
  if (!job) return fail(context.terminal, job.error());
  if (job->spec.is_pipeline() || job->attempts.empty()) {
    const auto why = running_job(**connection, "job diagnose", options.name);
    return fail(
        context.terminal,
        why ? make_error(ErrorCode::conflict,
                         fmt::format("job diagnose: job '{}' has no ranks yet", job->spec.name))
            : why.error());
  }
  Diagnosis diagnosis;
  diagnosis.job = *std::move(job);
  diagnosis.at = io::SystemClock().now();
  diagnosis.stacks.job = diagnosis.job.spec.name;
  diagnosis.stacks.attempt = diagnosis.job.attempts.back().number;
  const bool runs = diagnosis.job.status == JobStatus::running;
  if (runs) {
    context.terminal.progress("asking the ranks of " + diagnosis.job.spec.name);
    ask_ranks(**connection, options, &diagnosis);
    context.terminal.clear_status();
  } else {
    diagnosis.no_stacks = fmt::format("the job is {}", to_string(diagnosis.job.status));
  }
  ask_clocks(**connection, &diagnosis);
  const std::string text = diagnosis_text(diagnosis);
  const int printed = print(context, options.format, api::to_json(diagnosis), text);
  if (runs && !options.not_kept) keep_both(context, **connection, diagnosis, text);
  return printed;
}

}  // namespace

void add_diagnose_verb(CLI::App& group, VerbTable table) {
  CLI::App* const verb =
      table.add_below(group, "diagnose", "what the ranks of a job wait for, and where they are");
  if (verb == nullptr) return;
  const auto options = std::make_shared<DiagnoseOptions>();
  verb->footer(kExamples);
  auto* name = verb->add_option("-n,--name,NAME", options->name, "the job's name");
  name->check(job_name());
  verb->add_flag("--native", options->native, "of Python, also frames of C and C++");
  verb->add_flag("--no-keep", options->not_kept, "only show it");
  add_format(*verb, options->format);
  verb->parse_complete_callback([name] {
    if (name->count() == 0) throw CLI::RequiredError("NAME");
  });
  verb->callback([table, options] {
    table.action = [options](Context& context) { return diagnose(context, *options); };
  });
}

}  // namespace lockstep::cli
