#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/base/quoted_name.h"
#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/text/not_kept_text.h"
#include "launcher/cli/transfer/download.h"
#include "launcher/cli/transfer/download_marks.h"
#include "launcher/cli/verbs/look/look_verbs.h"
#include "launcher/cli/verbs/look/pipeline_download.h"

namespace lockstep::cli {

namespace {

constexpr const char* kDownloadExamples = R"(
  lockstep job download NAME                       ./NAME/artifacts: outputs/, logs/, kept/, user_logs/
  lockstep job download NAME --output-name model   ./NAME/named-outputs/model
  lockstep job download NAME --all -p results      both, in results/ itself
  lockstep job download PIPELINE                   ./PIPELINE/named-outputs/NAME: its own outputs
  lockstep job download PIPELINE --all             and what each step left, in ./PIPELINE/STEP
  lockstep job download PIPELINE --step train      that step's job alone, as in the first lines
  lockstep job download NAME --checkpoint          ./NAME/checkpoint: what a retry would start from
Existing files with the same names are replaced; other files are not changed. The folders that it
makes are not sent along with later jobs.)";

struct DownloadOptions {
  std::string name;
  std::string step;    // step of a pipeline
  std::string folder;  // "": the default
  std::string output;
  bool all = false;
  bool checkpoint = false;
  std::uint32_t attempt = 0;
  Format format = Format::table;
};

Json tree_json(const DownloadedTree& tree) {
  Json json;
  json["name"] = tree.kind == OutputKind::named ? Json(tree.name) : Json(nullptr);
  json["path"] = tree.path;
  json["files"] = tree.files;
  json["size"] = tree.size.count;
  json["nodes"] = tree.nodes;
  json["beside"] = Json::array();
  for (const snapshot::Beside& beside : tree.beside)
    json["beside"].push_back(
        {{"node_rank", beside.node_rank}, {"path", beside.path}, {"kept_as", beside.kept_as}});
  json["partial"] = tree.partial;
  return json;
}

Json to_json(const DownloadOptions& options, const Downloaded& done,
             const std::vector<std::string>& problems) {
  Json json;
  json["name"] = options.name;
  json["attempt"] = done.attempt;
  json["download_path"] = options.folder;
  json["outputs"] = Json::array();
  for (const auto& tree : done.trees) json["outputs"].push_back(tree_json(tree));
  json["user_logs"] = Json::array();
  for (const auto& log : done.logs)
    json["user_logs"].push_back({{"path", "artifacts/user_logs/" + log.name}, {"size", log.bytes}});
  json["problems"] = problems;
  return json;
}

std::string counted(std::uint64_t files) {
  return fmt::format("{} file{}", files, files == 1 ? "" : "s");
}

std::string text_of(const DownloadOptions& options, const Downloaded& done) {
  std::string text;
  for (const auto& tree : done.trees) {
    text += fmt::format(
        "{}/{}: {}, {}{}\n", options.folder, tree.path, counted(tree.files), to_string(tree.size),
        tree.nodes.empty() ? "" : fmt::format(" (from {})", fmt::join(tree.nodes, ", ")));
    for (const snapshot::Beside& beside : tree.beside)
      text += fmt::format("  {} of node rank {} differs: kept as {}\n", quoted_name(beside.path),
                          beside.node_rank, quoted_name(beside.kept_as));
    for (const std::string& path : tree.partial)
      text += fmt::format("  {} is partial: it was being written when it was sent\n",
                          quoted_name(path));
  }
  if (done.logs.empty()) return text;
  Bytes size;
  for (const auto& log : done.logs) size.count += log.bytes;
  return text + fmt::format("{}/artifacts/user_logs: {}, {}\n", options.folder,
                            counted(done.logs.size()), to_string(size));
}

Error nothing_left(const JobView& job, bool has_problems) {
  if (has_problems)
    return make_error(ErrorCode::not_found,
                      fmt::format("no file of {} could be kept: see above", job.spec.name));
  return make_error(
      ErrorCode::not_found,
      fmt::format("{} has no files{}", job.spec.name,
                  is_final(job.status)
                      ? ": nothing in ./outputs or ./logs, and its ranks printed nothing"
                      : fmt::format(" yet; it is {}", to_string(job.status))));
}

// The error names where the launcher was expected.
Error at_launcher(const std::optional<Endpoint>& endpoint, Error error) {
  if (error.code != ErrorCode::unavailable || !endpoint) return error;
  return error.within(fmt::format(
      "lost the launcher at {} (`lockstep status` shows whether it is back)", endpoint->control));
}

std::string text_of(const DownloadOptions& options, PipelineDownloaded done) {
  Downloaded shown;
  shown.trees = std::move(done.trees);
  std::string text = text_of(options, shown);
  for (const LogFile& log : done.logs)
    text += fmt::format("{}/{}: {}\n", options.folder, log.name, to_string(Bytes{log.bytes}));
  return text;
}

Json to_json(const DownloadOptions& options, const PipelineDownloaded& done) {
  Json json = to_json(options, Downloaded{0, done.trees, {}}, done.problems);
  json["attempt"] = nullptr;
  for (const LogFile& log : done.logs)
    json["user_logs"].push_back({{"path", log.name}, {"size", log.bytes}});
  return json;
}

int download_all_steps(Context& context, Connection& connection, const DownloadOptions& options,
                       const JobView& job) {
  if (options.checkpoint || options.attempt != 0)
    return fail(context.terminal,
                make_error(ErrorCode::invalid_argument,
                           fmt::format("job download: {0} is a pipeline, which has no attempts and "
                                       "no checkpoint; name the job of a step, which `lockstep job "
                                       "show {0}` lists",
                                       options.name)),
                kExitUsage);
  // A reader who may see the job but not read it gets a job without outputs. This request fails for
  // such a reader.
  if (const auto readable =
          connection.ask_for<EventsReply>(ListEvents{JobId(options.name), Instant::never()});
      !readable)
    return fail(context.terminal, readable.error());
  const PipelineDownloadRequest request{
      options.folder, options.all,
      options.output.empty() ? std::nullopt : std::optional(options.output)};
  const auto done = download_pipeline(
      connection, job, request, [&](const std::string& text) { context.terminal.progress(text); });
  context.terminal.clear_status();
  if (!done) return fail(context.terminal, at_launcher(context.find_endpoint(), done.error()));
  for (const auto* lines : {&done->notes, &done->problems})
    for (const std::string& line : *lines) context.terminal.print_line(in_one_line(line));
  if (done->trees.empty() && done->logs.empty())
    return fail(context.terminal,
                make_error(ErrorCode::not_found,
                           fmt::format("pipeline {} has no outputs of its own{}; --all downloads "
                                       "what its steps left",
                                       options.name, is_final(job.status) ? "" : " yet")));
  return print(context, options.format, to_json(options, *done), text_of(options, *done));
}

int download(Context& context, DownloadOptions options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto endpoint = context.find_endpoint();
  const auto chosen = chosen_job(**connection, context.terminal, "job download", options.name,
                                 options.step, "files these are");
  if (!chosen) return fail(context.terminal, chosen.error());
  const JobView& job = *chosen;
  say_whose(**connection, context.terminal, job);
  options.name = job.spec.name;
  const bool is_pipeline = job.spec.is_pipeline();
  if (options.folder.empty()) options.folder = is_pipeline ? "." : "./" + options.name;
  if (is_pipeline) return download_all_steps(context, **connection, options, job);
  const JobId id(options.name);
  DownloadRequest request;
  request.folder = options.folder;
  request.attempt = options.attempt;
  request.all_named = options.all;
  if (!options.output.empty()) request.named = options.output;
  request.checkpoint = options.checkpoint;
  request.artifacts = options.all || (!request.named && !request.checkpoint);
  auto plan = plan_download(job, request);
  if (!plan) return fail(context.terminal, plan.error());
  const auto done = download_job(**connection, id, options.name, *std::move(plan), options.folder,
                                 [&](const std::string& text) { context.terminal.progress(text); });
  context.terminal.clear_status();
  if (!done) return fail(context.terminal, at_launcher(endpoint, done.error()));
  if (!done->unmarked.empty()) context.terminal.print_line(unmarked_text(done->unmarked));
  const auto problems = output_problems(job.attempts[done->attempt - 1], request);
  for (const std::string& problem : problems) context.terminal.print_line(in_one_line(problem));
  const std::string lost = request.artifacts && request.attempt == 0 ? not_kept_text(job) : "";
  if (!lost.empty()) context.terminal.print_line("not kept: " + lost);
  if (done->trees.empty() && done->logs.empty())
    return fail(context.terminal, nothing_left(job, !problems.empty()));
  return print(context, options.format, to_json(options, *done, problems), text_of(options, *done));
}

}  // namespace

void add_download_verb(CLI::App& group, VerbTable table) {
  const auto options = std::make_shared<DownloadOptions>();
  CLI::App* const verb =
      table.add_below(group, "download", "download a job's outputs, logs and named outputs");
  if (verb == nullptr) return;
  verb->footer(kDownloadExamples);
  auto* name = verb->add_option("-n,--name,NAME", options->name, "the job's name");
  name->check(job_name());
  verb->parse_complete_callback([name] {
    if (name->count() == 0) throw CLI::RequiredError("NAME");
  });
  verb->add_option("-p,--download-path", options->folder,
                   "the folder to download to (default: ./NAME; a pipeline's is made in the "
                   "current one)")
      ->check(filled("leave it out to take ./NAME"));
  add_step(*verb, options->step);
  auto* all = verb->add_flag("--all", options->all, "download the artifacts and all named outputs");
  verb->add_option("--output-name", options->output, "only this named output")
      ->check(filled("leave it out to get the artifacts"))
      ->excludes(all);
  verb->add_flag(
      "--checkpoint", options->checkpoint,
      "the newest checkpoint, into ./checkpoint (with --attempt: the checkpoint of that attempt)");
  verb->add_option("--attempt", options->attempt, "the number of the attempt (default: the newest)")
      ->check(whole_number(1));
  add_format(*verb, options->format);
  verb->callback([table, options] {
    table.action = [options](Context& context) { return download(context, *options); };
  });
}

}  // namespace lockstep::cli
