// `lockstep job stacks`: shows what the ranks of a running job are doing.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "launcher/cli/attach/short_attachments.h"
#include "launcher/cli/attach/stack_answers.h"
#include "launcher/cli/verbs/ranks/rank_verbs.h"

namespace lockstep::cli {

namespace {

constexpr Duration kWithin = seconds(120);  // a tool may take 30 s for each process
constexpr const char* kExamples = R"(
  lockstep job stacks @last
  lockstep job stacks NAME --rank 3 --native
Ranks with equal stacks are one group, and the smallest group comes first. py-spy reads Python's
stacks, eu-stack or gdb those of other programs; they come from the job's environment or its node.)";

struct StacksOptions {
  std::string name;
  RankChoice choice;
  bool native = false;
  Format format = Format::table;
};

int stacks(Context& context, const StacksOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto job = running_job(**connection, "job stacks", options.name);
  if (!job) return fail(context.terminal, job.error());
  const auto nodes = chosen_ranks("job stacks", *job, options.choice);
  if (!nodes) return fail(context.terminal, nodes.error(), exit_code_of_choice(nodes.error()));
  context.terminal.progress("reading the stacks of " + ranks_text(*nodes));
  const auto answers = call_all(
      **connection,
      openings_for(*job, *nodes, options.choice.rank.has_value(), AttachStacks{options.native}),
      kWithin);
  context.terminal.clear_status();
  if (!answers) return fail(context.terminal, answers.error());
  StackReport report{job->spec.name, job->attempts.back().number, {}, {}};
  for (std::size_t i = 0; i < nodes->size(); ++i)
    add_stacks_of((*nodes)[i], (*answers)[i], &report);
  const bool all_refused = std::all_of(answers->begin(), answers->end(),
                                       [](const AttachAnswer& answer) { return answer.error; });
  if (all_refused && report.groups.empty()) return fail(context.terminal, *answers->front().error);
  sort_groups(&report);
  const int printed = print(context, options.format, api::to_json(report), stacks_text(report));
  return printed == 0 && report.groups.empty() ? kExitFailure : printed;
}

}  // namespace

void add_stacks_verb(CLI::App& group, VerbTable table) {
  CLI::App* const verb =
      table.add_below(group, "stacks", "where the ranks of a job are: their stacks, in groups");
  if (verb == nullptr) return;
  const auto options = std::make_shared<StacksOptions>();
  verb->footer(kExamples);
  auto* name = verb->add_option("-n,--name,NAME", options->name, "the job's name");
  name->check(job_name());
  add_rank(*verb, options->choice);
  verb->add_flag("--native", options->native, "of Python, also frames of C and C++");
  add_format(*verb, options->format);
  verb->parse_complete_callback([name] {
    if (name->count() == 0) throw CLI::RequiredError("NAME");
  });
  verb->callback([table, options] {
    table.action = [options](Context& context) { return stacks(context, *options); };
  });
}

}  // namespace lockstep::cli
