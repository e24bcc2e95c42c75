#include "launcher/cli/verbs/look/job_comparison.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "common/io/file_system.h"
#include "common/io/programs/run_program.h"
#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/text/differences/metrics_difference.h"
#include "launcher/cli/text/differences/pipeline_difference.h"
#include "launcher/cli/transfer/left_files.h"

namespace lockstep::cli {
namespace {

constexpr std::uint64_t kMostShown = 1u << 20;  // larger files are not compared line by line

// Two source trees, and the jobs with whose rights they are read.
struct TreePair {
  std::string a_job, b_job;
  std::optional<Digest> a, b;
};

Result<std::unique_ptr<LeftFiles>> files_of(Connection& connection, const std::string& job,
                                            const std::optional<Digest>& snapshot) {
  if (!snapshot) return std::unique_ptr<LeftFiles>();
  DownloadPlan plan;
  DownloadPlan::Tree& tree = plan.trees.emplace_back();
  tree.to.kind = OutputKind::named;
  tree.to.path = "code";
  tree.from = {{0, *snapshot}};
  return LeftFiles::fetch(connection, JobId(job), std::move(plan));
}

class LineComparer {
 public:
  LineComparer(Connection& connection, LeftFiles& a, LeftFiles& b)
      : connection_(connection), a_(a), b_(b) {}
  ~LineComparer() {
    if (!folder_.empty()) static_cast<void>(io::remove_tree(folder_));
  }
  LineComparer(const LineComparer&) = delete;
  LineComparer& operator=(const LineComparer&) = delete;

  // Compares at most `most` files of `code`, and counts `most` down.
  Status run(const TreePair& jobs, SourceDifference& code, std::size_t& most) {
    folder_ = "/tmp/lockstep-compare-XXXXXX";
    if (::mkdtemp(folder_.data()) == nullptr) {
      folder_.clear();
      return make_error(ErrorCode::unavailable, "compare: cannot make a folder in /tmp");
    }
    for (const std::string& path : code.paths.changed) {
      if (most == 0) break;
      TRY_ASSIGN(const bool has_first, bring(a_, path, folder_ + "/a"));
      TRY_ASSIGN(const bool has_second, bring(b_, path, folder_ + "/b"));
      if (!has_first || !has_second) continue;
      TRY_ASSIGN(
          const io::ProgramOutput made,
          io::run_program({"diff", "-u", "--label", jobs.a_job + "/" + source_path(path), "--label",
                           jobs.b_job + "/" + source_path(path), folder_ + "/a", folder_ + "/b"},
                          seconds(30)));
      code.lines[path] = made.text;
      --most;
    }
    return {};
  }

 private:
  // False: a symlink, or a file larger than kMostShown.
  Result<bool> bring(LeftFiles& files, const std::string& path, const std::string& to) {
    const auto found = std::find_if(files.files().begin(), files.files().end(),
                                    [&](const LeftFile& file) { return file.path == path; });
    const bool is_fit = found != files.files().end() &&
                        found->entry.kind == snapshot::EntryKind::file &&
                        found->entry.size <= kMostShown;
    if (!is_fit) return false;
    std::string bytes;
    TRY(files.read(connection_, *found, [&](std::string_view piece) {
      bytes += piece;
      return true;
    }));
    TRY(io::write_file_atomically(to, bytes, 0600));
    return true;
  }

  Connection& connection_;
  LeftFiles &a_, &b_;
  std::string folder_;
};

class JobComparer {
 public:
  JobComparer(Connection& connection, bool lines) : connection_(connection), lines_(lines) {}

  Result<Comparison> compare(const std::string& a_name, const std::string& b_name) {
    TRY_ASSIGN(const JobView a, readable(a_name));
    TRY_ASSIGN(const JobView b, readable(b_name));
    Comparison all;
    all.a = a.spec.name;
    all.b = b.spec.name;
    all.fields = differences_of(a, b);
    TRY_ASSIGN(const MetricsReply a_logged, logged_by(a));
    TRY_ASSIGN(const MetricsReply b_logged, logged_by(b));
    auto logged = differences_of(a_logged, b_logged);
    all.fields.insert(all.fields.end(), std::make_move_iterator(logged.begin()),
                      std::make_move_iterator(logged.end()));
    TRY_ASSIGN(all.code, code_of({all.a, all.b, a.spec.snapshot, b.spec.snapshot}));
    for (const StepPair& pair : pairs_of(a, b)) TRY(add_step(pair, all));
    return all;
  }

 private:
  // A reader who may see the job but not read it gets it without code and texts. Comparing such
  // jobs is refused, like reading their events.
  Result<JobView> readable(const std::string& name) {
    TRY_ASSIGN(const JobId job, named_job(connection_, "job compare", name));
    TRY_ASSIGN(JobReply reply, connection_.ask_for<JobReply>(ShowJob{job, true}));
    TRY(connection_.ask_for<EventsReply>(ListEvents{job, Instant::never()}));
    return std::move(reply.job);
  }

  Result<MetricsReply> logged_by(const JobView& job) {
    if (job.spec.metric_lines.empty()) return MetricsReply();
    GetMetrics question;
    question.job = JobId(job.spec.name);
    return connection_.ask_for<MetricsReply>(question);
  }

  Result<SourceDifference> code_of(const TreePair& pair) {
    SourceDifference code;
    if (pair.a == pair.b) return code;
    TRY_ASSIGN(const auto a, files_of(connection_, pair.a_job, pair.a));
    TRY_ASSIGN(const auto b, files_of(connection_, pair.b_job, pair.b));
    const std::vector<LeftFile> none;
    code.paths = differences_of(a ? a->files() : none, b ? b->files() : none);
    if (lines_ && a && b) TRY(LineComparer(connection_, *a, *b).run(pair, code, lines_left_));
    return code;
  }

  Status add_step(const StepPair& pair, Comparison& all) {
    StepComparison step{pair.name, bool(pair.a), bool(pair.b), {}, {}};
    std::optional<JobView> a, b;
    if (pair.a && pair.b) {
      TRY(find_jobs(pair, a, b, all));
      TRY(add_code(pair, all, step));
    }
    auto fields = differences_of(pair, a ? &*a : nullptr, b ? &*b : nullptr);
    step.fields.insert(step.fields.begin(), std::make_move_iterator(fields.begin()),
                       std::make_move_iterator(fields.end()));
    if (!step.fields.empty() || !step.code.paths.empty()) all.steps.push_back(std::move(step));
    return {};
  }

  // No jobs if both steps have the results of one job.
  Status find_jobs(const StepPair& pair, std::optional<JobView>& a, std::optional<JobView>& b,
                   Comparison& all) {
    const JobId &a_job = pair.a.view->job, &b_job = pair.b.view->job;
    if (a_job.value.empty() || b_job.value.empty() || a_job == b_job) return {};
    if (asked_ == kMostStepsWithJobs) {
      ++all.by_states;
      return {};
    }
    ++asked_;
    TRY_ASSIGN(a, job_of(a_job));
    TRY_ASSIGN(b, job_of(b_job));
    return {};
  }

  // nullopt: the reused job was deleted, or the reader may not see it.
  Result<std::optional<JobView>> job_of(const JobId& id) {
    auto reply = connection_.ask_for<JobReply>(ShowJob{id});
    if (reply) return std::optional(std::move(reply->job));
    const ErrorCode code = reply.error().code;
    if (code == ErrorCode::not_found || code == ErrorCode::permission_denied)
      return std::optional<JobView>();
    return reply.error();
  }

  // Many steps have the same two trees, so each pair is compared once.
  Status add_code(const StepPair& pair, const Comparison& all, StepComparison& step) {
    const auto &a = pair.a.step->spec.snapshot, &b = pair.b.step->spec.snapshot;
    if (a == b) return {};
    const auto text = [](const std::optional<Digest>& one) { return one ? one->hex() : ""; };
    const auto key = std::pair(text(a), text(b));
    if (!trees_.contains(key)) {
      if (trees_.size() == kMostTreePairs) {
        step.fields.push_back({"lockstep.snapshot", key.first, key.second});
        return {};
      }
      TRY_ASSIGN(trees_[key], code_of({all.a, all.b, a, b}));
    }
    step.code = trees_[key];
    return {};
  }

  Connection& connection_;
  const bool lines_;
  std::size_t lines_left_ = kMostFilesOfLines;
  std::size_t asked_ = 0;
  std::map<std::pair<std::string, std::string>, SourceDifference> trees_;
};

}  // namespace

std::string source_path(const std::string& path) { return path.substr(path.find('/') + 1); }

Result<Comparison> compare_jobs(Connection& connection, const std::string& a, const std::string& b,
                                bool lines) {
  return JobComparer(connection, lines).compare(a, b);
}

}  // namespace lockstep::cli
