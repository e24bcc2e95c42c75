// The files that a job left, or has so far: `job files` lists them, `job cat` prints one.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/printable.h"
#include "common/base/quoted_name.h"
#include "common/domain/job/pipeline.h"
#include "common/snapshot/live/pieces.h"
#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/transfer/left_files.h"
#include "launcher/cli/verbs/look/look_verbs.h"

namespace lockstep::cli {
namespace {

constexpr const char* kFilesExamples = R"(
  lockstep job files NAME                     its files; while it runs, those collected so far
  lockstep job cat NAME outputs/metrics.json
  lockstep job files sweep/3                  of the task 3 of an array, or of a pipeline's step
While a job runs, a file is here a second after it was written. One that is written all the time is
here every 10 s as far as it is, as NAME.partial beside its last complete version.)";

struct FilesOptions {
  std::string name;
  std::string step;  // step of a pipeline
  std::string job;   // the resolved job
  std::string path;
  std::uint32_t attempt = 0;
  bool raw = false;  // for cat
  Format format = Format::table;
};

bool has_checkpoint(const AttemptView& attempt) {
  for (const PartView& part : attempt.parts)
    for (const CollectedOutput& output : part.outputs)
      if (output.kind == OutputKind::checkpoint && output.tree) return true;
  return false;
}

// The plan for everything that is kept of the attempt.
Result<DownloadPlan> plan_of(const JobView& job, std::uint32_t attempt) {
  DownloadRequest request;
  request.attempt = attempt;
  request.all_named = true;
  TRY_ASSIGN(DownloadPlan plan, plan_download(job, request));
  if (!has_checkpoint(job.attempts[plan.attempt - 1])) return plan;
  request.checkpoint = true;
  request.attempt = plan.attempt;
  return plan_download(job, request);
}

Error look_at_steps(const JobView& job) {
  constexpr std::size_t kMostNamed = 5;
  const bool is_array = job.spec.pipeline && !job.spec.pipeline->array.empty();
  std::vector<std::string> jobs;
  for (const StepView& step : job.steps)
    if (!step.job.value.empty())
      jobs.push_back(step.job.value +
                     (step.phase == StepPhase::reused ? " (reused by " + step.name + ")" : ""));
  const std::size_t more = jobs.size() > kMostNamed ? jobs.size() - kMostNamed : 0;
  jobs.resize(jobs.size() - more);
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format("{0} is {4}, and its files are those of its {5}s' jobs{1}{2}{3}; name one as "
                  "{0}/{6}; `lockstep job download {0}{8}` brings {7}",
                  job.spec.name, jobs.empty() ? "; none has begun" : ": ", fmt::join(jobs, ", "),
                  more == 0 ? "" : fmt::format(" and {} more", more),
                  is_array ? "an array" : "a pipeline", is_array ? "task" : "step",
                  job.steps.empty() ? "STEP" : job.steps.front().name,
                  is_array ? "all of them" : "its outputs", is_array ? " --all" : ""));
}

// The trees of a running job may be replaced between the request for them and their reading.
constexpr int kMostTries = 5;

Result<std::unique_ptr<LeftFiles>> files_of(Connection& connection, const FilesOptions& options) {
  const JobId id(options.job);
  // A reader who may see the job but not read it gets a job without files. This request fails for
  // such a reader.
  TRY(connection.ask_for<EventsReply>(ListEvents{id, Instant::never()}));
  for (int tries = 1;; ++tries) {
    TRY_ASSIGN(const JobReply reply, connection.ask_for<JobReply>(ShowJob{id}));
    if (reply.job.spec.is_pipeline()) return look_at_steps(reply.job);
    TRY_ASSIGN(DownloadPlan plan, plan_of(reply.job, options.attempt));
    auto left = LeftFiles::fetch(connection, id, std::move(plan));
    const bool is_over = is_final(reply.job.status);
    if (!left && !is_over && tries < kMostTries) continue;
    if (!left || !(*left)->files().empty()) return left;
    return make_error(ErrorCode::not_found,
                      is_over ? fmt::format("{} left no files", options.job)
                              : fmt::format("no files of {} were collected yet; the job is {}",
                                            options.job, to_string(reply.job.status)));
  }
}

Json to_json(const FilesOptions& options, const LeftFiles& left) {
  Json json;
  json["name"] = options.job;
  json["attempt"] = left.attempt();
  json["files"] = Json::array();
  for (const LeftFile& file : left.files()) {
    const bool is_link = file.entry.kind == snapshot::EntryKind::symlink;
    json["files"].push_back({{"path", file.path},
                             {"size", is_link ? Json(nullptr) : Json(file.entry.size)},
                             {"target", is_link ? Json(file.entry.target) : Json(nullptr)},
                             {"partial", file.partial}});
  }
  return json;
}

std::string text_of(const LeftFiles& left) {
  std::string text;
  for (const LeftFile& file : left.files()) {
    const bool is_link = file.entry.kind == snapshot::EntryKind::symlink;
    text +=
        fmt::format("{:>12}  {}{}{}\n", is_link ? "link" : to_string(Bytes{file.entry.size}),
                    quoted_name(file.path), is_link ? " -> " + quoted_name(file.entry.target) : "",
                    file.partial ? "  (partial: was being written)" : "");
  }
  return text;
}

// Sets options.job.
Status choose(Context& context, Connection& connection, const std::string& verb,
              FilesOptions& options) {
  options.job = options.name;
  if (options.step.empty() && options.name.find('/') == options.name.npos) {
    say_whose(connection, context.terminal, JobId(options.name));
    return {};
  }
  TRY_ASSIGN(const JobView job, chosen_job(connection, context.terminal, verb, options.name,
                                           options.step, "files these are"));
  say_whose(connection, context.terminal, job);
  options.job = job.spec.name;
  return {};
}

int files(Context& context, FilesOptions options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  if (const Status chosen = choose(context, **connection, "job files", options); !chosen)
    return fail(context.terminal, chosen.error());
  const auto left = files_of(**connection, options);
  if (!left) return fail(context.terminal, left.error());
  return print(context, options.format, to_json(options, **left), text_of(**left));
}

const LeftFile* file_at(const LeftFiles& left, const std::string& path) {
  const auto found = std::find_if(left.files().begin(), left.files().end(),
                                  [&](const LeftFile& file) { return file.path == path; });
  return found == left.files().end() ? nullptr : &*found;
}

const LeftFile* partial_of(const LeftFiles& left, const std::string& path) {
  const auto found =
      std::find_if(left.files().begin(), left.files().end(),
                   [&](const LeftFile& file) { return file.partial && file.whole == path; });
  return found == left.files().end() ? nullptr : &*found;
}

// The chosen file. A partial file can also be named by its final name.
Result<LeftFile> chosen(const LeftFiles& left, const FilesOptions& options) {
  const LeftFile* found = file_at(left, options.path);
  if (found == nullptr) found = partial_of(left, options.path);
  if (found == nullptr)
    return make_error(
        ErrorCode::not_found,
        fmt::format("{} has no file {}; `lockstep job files {}` lists the job's files", options.job,
                    quoted_name(options.path), options.job));
  if (found->entry.kind == snapshot::EntryKind::file) return *found;
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("{} is a symlink to {}; symlinks are not followed",
                                quoted_name(found->path), quoted_name(found->entry.target)));
}

// The note if standard output will not get the whole file.
std::string note_on(const LeftFiles& left, const FilesOptions& options, const LeftFile& file) {
  if (file.partial)
    return fmt::format("{} is partial: it was being written when these {} were sent",
                       quoted_name(options.path), to_string(Bytes{file.entry.size}));
  const LeftFile* const partial = partial_of(left, file.path);
  if (partial == nullptr) return "";
  return fmt::format(
      "{} is its last complete version; it is being written again, and {} has it so far",
      quoted_name(file.path), quoted_name(partial->path));
}

// Writes a file's bytes. On a terminal they are filtered like a log's, in pieces that end between
// characters.
class FileWriter {
 public:
  FileWriter(Terminal& terminal, bool raw)
      : terminal_(terminal), as_it_is_(raw || !terminal.is_terminal(LogStream::out)) {}

  bool write(std::string_view bytes) {
    if (as_it_is_) return terminal_.write_raw(LogStream::out, bytes);
    held_ += bytes;
    return write_held(showable_log(held_));
  }
  void finish() { (void)write_held(held_.size()); }

 private:
  bool write_held(std::size_t length) {
    const std::string shown = printable_log(std::string_view(held_).substr(0, length), &colors_);
    held_.erase(0, length);
    return terminal_.write(LogStream::out, shown);
  }

  Terminal& terminal_;
  const bool as_it_is_;
  std::string held_, colors_;
};

int cat(Context& context, FilesOptions options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  if (const Status chosen = choose(context, **connection, "job cat", options); !chosen)
    return fail(context.terminal, chosen.error());
  for (int tries = 1;; ++tries) {
    const auto left = files_of(**connection, options);
    if (!left) return fail(context.terminal, left.error());
    const auto file = chosen(**left, options);
    if (!file) return fail(context.terminal, file.error());
    bool has_begun = false;
    FileWriter writer(context.terminal, options.raw);
    const auto write = [&](std::string_view bytes) {
      if (!has_begun)
        if (const std::string note = note_on(**left, options, *file); !note.empty())
          context.terminal.print_line(note);
      has_begun = true;
      return writer.write(bytes);
    };
    const Status done = (*left)->read(**connection, *file, write);
    if (!done && !has_begun && tries < kMostTries) continue;
    if (done && !has_begun) (void)write("");  // shows the note on an empty file
    writer.finish();
    if (context.terminal.lost_output()) return kExitOutputClosed;
    return done ? 0 : fail(context.terminal, done.error());
  }
}

}  // namespace

void add_files_verbs(CLI::App& group, VerbTable table) {
  const auto add = [&](const char* name, const char* what, int (*work)(Context&, FilesOptions)) {
    const auto options = std::make_shared<FilesOptions>();
    auto* verb = group.add_subcommand(name, what);
    verb->footer(kFilesExamples);
    verb->add_option("NAME", options->name, "the job")->required()->check(job_name());
    add_step(*verb, options->step);
    verb->add_option("--attempt", options->attempt,
                     "the number of the attempt (default: the newest)")
        ->check(whole_number(1));
    verb->callback([table, options, work] {
      table.action = [options, work](Context& context) { return work(context, *options); };
    });
    return std::pair(verb, options);
  };
  const auto [list, listed] = add("files", "list the files that a job has written", files);
  add_format(*list, listed->format);
  const auto [print, printed] = add("cat", "print one of the files that a job has written", cat);
  print->add_option("PATH", printed->path, "as `job files` shows it")->required();
  add_raw(*print, printed->raw);
}

}  // namespace lockstep::cli
