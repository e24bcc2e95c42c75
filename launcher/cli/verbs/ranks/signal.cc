// `lockstep job signal`: sends a signal to the ranks of a running job.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/base/printable.h"
#include "launcher/cli/attach/short_attachments.h"
#include "launcher/cli/attach/signal_words.h"
#include "launcher/cli/verbs/ranks/rank_verbs.h"

namespace lockstep::cli {

namespace {

constexpr Duration kWithin = seconds(30);
constexpr const char* kExamples = R"(
  lockstep job signal NAME USR1              to all ranks; SIGUSR1 and 10 are the same
  lockstep job signal NAME --rank 3 CONT
It goes to the process group of each rank. To end a job, use `lockstep job cancel NAME`.)";

struct SignalOptions {
  std::string name, signal;
  RankChoice choice;
  Format format = Format::table;
};

std::string problem_of(const AttachAnswer& answer) {
  if (answer.error) return answer.error->message;
  return answer.end.code == 0 ? "" : answer.end.message;
}

Json json_of(const JobView& job, int number, const std::vector<NodeRanks>& nodes,
             const std::vector<AttachAnswer>& answers) {
  Json places = Json::array();
  bool all = true;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string problem = problem_of(answers[i]);
    all = all && problem.empty();
    places.push_back({{"node_name", nodes[i].node_name},
                      {"node_rank", nodes[i].node_rank},
                      {"ranks", nodes[i].ranks},
                      {"sent", problem.empty()},
                      {"problem", problem.empty() ? Json() : Json(problem)}});
  }
  return {{"job", job.spec.name},
          {"attempt", job.attempts.back().number},
          {"signal", {{"name", signal_text(number)}, {"number", number}}},
          {"sent", all},
          {"nodes", places}};
}

int send(Context& context, const SignalOptions& options) {
  const auto number = signal_from(options.signal);
  if (!number) return fail(context.terminal, number.error().within("job signal"), kExitUsage);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto job = running_job(**connection, "job signal", options.name);
  if (!job) return fail(context.terminal, job.error());
  const auto nodes = chosen_ranks("job signal", *job, options.choice);
  if (!nodes) return fail(context.terminal, nodes.error(), exit_code_of_choice(nodes.error()));
  const auto answers = call_all(
      **connection,
      openings_for(*job, *nodes, options.choice.rank.has_value(), AttachSignal{*number}), kWithin);
  if (!answers) return fail(context.terminal, answers.error());
  std::vector<NodeRanks> reached;
  int code = 0;
  for (std::size_t i = 0; i < nodes->size(); ++i) {
    const NodeRanks& node = (*nodes)[i];
    const std::string problem = problem_of((*answers)[i]);
    if (problem.empty()) {
      reached.push_back(node);
      continue;
    }
    code = kExitFailure;
    context.terminal.print_line(
        fmt::format("not sent to {}: {}", ranks_text({node}), in_one_line(problem)));
  }
  const std::string sent = reached.empty()
                               ? ""
                               : fmt::format("sent {} to {} of {}\n", signal_text(*number),
                                             ranks_text(reached), job->spec.name);
  const int printed =
      print(context, options.format, json_of(*job, *number, *nodes, *answers), sent);
  return code == 0 ? printed : code;
}

}  // namespace

void add_signal_verb(CLI::App& group, VerbTable table) {
  CLI::App* const verb = table.add_below(group, "signal", "send a signal to the ranks of a job");
  if (verb == nullptr) return;
  const auto options = std::make_shared<SignalOptions>();
  verb->footer(kExamples);
  auto* name = verb->add_option("-n,--name,NAME", options->name, "the job's name");
  name->check(job_name());
  auto* signal = verb->add_option("SIGNAL", options->signal, "USR1, SIGUSR1, 10, RTMIN+1, …");
  signal->check(filled("write its name or number, such as USR1"));
  add_rank(*verb, options->choice);
  add_format(*verb, options->format);
  verb->parse_complete_callback([name, signal] {
    if (name->count() == 0) throw CLI::RequiredError("NAME");
    if (signal->count() == 0) throw CLI::RequiredError("SIGNAL");
  });
  verb->callback([table, options] {
    table.action = [options](Context& context) { return send(context, *options); };
  });
}

}  // namespace lockstep::cli
