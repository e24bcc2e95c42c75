#include "launcher/daemon/ports/job_metrics.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/domain/runs/batch_limits.h"
#include "common/io/file_system.h"
#include "launcher/logs/log_store.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kReadAtOnce = 64u << 10;
constexpr int kReadsInARow = 16;          // of one log; then the others have their turn
constexpr std::size_t kLogsAtOnce = 256;  // of one round of the worker
constexpr int kMostQuestions = 64;        // that are not answered yet
constexpr int kEndedJobsAtStart = 200;
constexpr std::uint64_t kMostBuckets = 100'000;  // of one answer, over all curves

const char* name_of(LogStream stream) { return stream == LogStream::out ? "stdout" : "stderr"; }

std::string source_of(const LogKey& log) {
  return fmt::format("{}/rank_{}.{}", LogStore::name_of(log.attempt), log.rank,
                     name_of(log.stream));
}

metrics::RunInfo info_of(const Job& job) {
  metrics::RunInfo info;
  info.run = metrics::run_of(job.id);
  info.experiment = job.spec.experiment_name;
  info.title = job.spec.display_name;
  info.status = metrics::run_status_of(job.status());
  if (!job.attempts.empty()) info.started = job.attempts.front().placed;
  if (const auto* const finish = job.finish()) info.ended = finish->at;
  info.deleted = job.archived;
  info.owner = job.spec.submitter;
  info.project = job.spec.project;
  info.shared = job.shared;
  return info;
}

}  // namespace

JobMetrics::JobMetrics(io::EventLoop& loop, const State& state, const std::string& path,
                       std::string log_root)
    : loop_(loop), state_(state), path_(path), log_root_(std::move(log_root)) {
  auto writer = metrics::Writer::open(path, {});
  if (!writer) {
    spdlog::error("metrics of jobs are not kept: {}", writer.error().message);
    return;
  }
  writer_ = *std::move(writer);
  if (!writer_->finding().empty()) spdlog::error("{}", writer_->finding());
}

JobMetrics::~JobMetrics() = default;

// ---- on the loop --------------------------------------------------------------------------------

void JobMetrics::begin() {
  for (const JobId& job : state_.unfinished()) describe(job);
  int looked_at = 0;
  for (auto ended = state_.ended().rbegin();
       ended != state_.ended().rend() && looked_at < kEndedJobsAtStart; ++ended, ++looked_at)
    describe(ended->second);
}

void JobMetrics::write(metrics::Change change) {
  const Status added = writer_->add(std::move(change), [](const Status& done) {
    if (!done) spdlog::warn("metrics were not kept: {}", done.error().message);
  });
  if (!added) spdlog::warn("metrics were not kept: {}", added.error().message);
}

void JobMetrics::describe(const JobId& id) {
  const Job* const job = state_.job(id);
  if (writer_ == nullptr || job == nullptr || job->spec.metric_lines.empty()) return;
  metrics::RunInfo info = info_of(*job);
  const bool is_over = job->finish() != nullptr;
  const auto told = told_.find(id);
  if (told == told_.end() || told->second != info) write(metrics::DescribeRun{info});
  if (!is_over) {
    told_.insert_or_assign(id, std::move(info));
    return;
  }
  told_.erase(id);
  over_.insert(id);
}

JobMetrics::Patterns JobMetrics::patterns_of(const Job& job) {
  const auto known = patterns_.find(job.id);
  if (known != patterns_.end()) return known->second;
  auto compiled = metrics::LinePatterns::compile(job.spec.metric_lines);
  // Its client did not read the job file as ours does.
  if (!compiled) spdlog::warn("job {} has no metrics: {}", job.id.value, compiled.error().message);
  auto patterns =
      compiled ? std::make_shared<const metrics::LinePatterns>(*std::move(compiled)) : nullptr;
  patterns_.emplace(job.id, patterns);
  return patterns;
}

void JobMetrics::grew(const LogKey& log) {
  if (writer_ == nullptr || log.stream == LogStream::environment) return;
  const Job* const job = state_.job(log.attempt.job);
  if (job == nullptr || job->spec.metric_lines.empty()) return;
  grown_.insert(log);
}

void JobMetrics::perform(const ForgetJob& action) {
  told_.erase(action.job);
  patterns_.erase(action.job);
  over_.erase(action.job);
  std::erase_if(grown_, [&](const LogKey& log) { return log.attempt.job == action.job; });
  if (writer_ == nullptr) return;
  write(metrics::RemoveJob{action.job});
  worker_.run([this, job = action.job] {
    std::erase_if(readings_, [&](const auto& each) { return each.first.attempt.job == job; });
  });
}

void JobMetrics::turn_end(Instant now) {
  if (is_reading_ || (grown_.empty() && over_.empty())) return;
  std::vector<Grown> logs;
  while (!grown_.empty() && logs.size() < kLogsAtOnce) {
    const LogKey log = *grown_.begin();
    grown_.erase(grown_.begin());
    const Job* const job = state_.job(log.attempt.job);
    if (job == nullptr) continue;
    if (Patterns patterns = patterns_of(*job)) logs.push_back({log, std::move(patterns)});
  }
  // A job has ended when all its logs are here.
  std::vector<std::pair<AttemptId, Patterns>> ended;
  for (const JobId& id : std::exchange(over_, {})) {
    const Job* const job = state_.job(id);
    if (job == nullptr) continue;
    if (const Patterns patterns = patterns_of(*job))
      for (const Attempt& attempt : job->attempts) ended.emplace_back(attempt.id, patterns);
    patterns_.erase(id);
  }
  is_reading_ = true;
  worker_.run([this, now, logs = std::move(logs), ended = std::move(ended)] {
    std::vector<LogKey> more;
    for (const Grown& grown : logs)
      if (!read(grown, now)) more.push_back(grown.log);
    for (const auto& [attempt, patterns] : ended) {
      const auto all = LogStore(log_root_).list(attempt);
      for (const LogKey& log : all ? *all : std::vector<LogKey>())
        if (log.stream != LogStream::environment) end({log, patterns}, now);
    }
    loop_.post([this, more = std::move(more)] {
      is_reading_ = false;
      grown_.insert(more.begin(), more.end());
    });
  });
}

void JobMetrics::get(const GetMetrics& question, std::function<void(ClientReply)> then) {
  ask_worker(question, std::move(then));
}

void JobMetrics::latest(const GetLatest& question, std::function<void(ClientReply)> then) {
  ask_worker(question, std::move(then));
}

template <class Question>
void JobMetrics::ask_worker(const Question& question, std::function<void(ClientReply)> then) {
  if (writer_ == nullptr)
    return then(Refused{ErrorCode::unavailable,
                        "the launcher's store of metrics cannot be used; its log says why"});
  if (answering_ >= kMostQuestions)
    return then(Refused{ErrorCode::unavailable,
                        "many questions about metrics wait to be answered; try again"});
  ++answering_;
  worker_.run([this, question, then = std::move(then)] {
    auto reply = reply_to(question);
    ClientReply answer = reply ? ClientReply(*std::move(reply))
                               : ClientReply(Refused{reply.error().code, reply.error().message});
    loop_.post([this, answer = std::move(answer), then] {
      --answering_;
      then(answer);
    });
  });
}

// ---- on the worker ------------------------------------------------------------------------------

Status JobMetrics::open_reader() {
  if (reader_) return {};
  TRY_ASSIGN(reader_, metrics::Reader::open(path_));
  return {};
}

Result<JobMetrics::Reading*> JobMetrics::reading_of(const Grown& grown) {
  const auto known = readings_.find(grown.log);
  if (known != readings_.end()) return &known->second;
  TRY(open_reader());
  writer_->settle();  // the run is described, and the mark of an earlier reader is there
  TRY_ASSIGN(const auto mark,
             reader_->mark(metrics::run_of(grown.log.attempt.job), source_of(grown.log)));
  const auto made =
      readings_.emplace(grown.log, Reading(*grown.patterns, mark.value_or(metrics::SourceMark())));
  return &made.first->second;
}

void JobMetrics::pass_on(const LogKey& log, Reading& reading,
                         std::vector<metrics::NamedPoint> points) {
  for (std::size_t begin = 0; begin < points.size(); begin += metrics::kMaxBatchPoints) {
    const std::size_t end = std::min(points.size(), begin + metrics::kMaxBatchPoints);
    metrics::LogBatch batch;
    batch.run = metrics::run_of(log.attempt.job);
    batch.attempt = log.attempt;
    batch.rank = log.rank;
    batch.points.assign(points.begin() + static_cast<std::ptrdiff_t>(begin),
                        points.begin() + static_cast<std::ptrdiff_t>(end));
    if (end == points.size())
      batch.mark = metrics::SourceMark{source_of(log), reading.base + reading.lines.offset(),
                                       reading.lines.state()};
    const auto done = [](const Status& written) {
      if (!written) spdlog::warn("metrics were not kept: {}", written.error().message);
    };
    Status added = writer_->add(batch, done);
    if (!added && added.error().code == ErrorCode::resource_exhausted) {
      writer_->settle();
      added = writer_->add(std::move(batch), done);
    }
    if (!added) spdlog::warn("metrics were not kept: {}", added.error().message);
  }
}

bool JobMetrics::read(const Grown& grown, Instant now) {
  const auto reading = reading_of(grown);
  if (!reading) {
    spdlog::warn("metrics of {} are not read: {}", owner_of(grown.log), reading.error().message);
    return true;
  }
  const std::string path = LogStore(log_root_).path(grown.log);
  const auto file = io::open_file(path, O_RDONLY | O_CLOEXEC);
  if (!file) return true;  // the job was deleted
  std::array<char, kReadAtOnce> bytes;
  std::vector<metrics::NamedPoint> points;
  bool is_all = false;
  for (int i = 0; i < kReadsInARow && !is_all; ++i) {
    const ssize_t count =
        ::pread(file->get(), bytes.data(), bytes.size(), static_cast<off_t>((*reading)->offset));
    is_all = count <= 0;
    if (is_all) break;
    const auto size = static_cast<std::size_t>(count);
    (*reading)->offset += size;
    (*reading)->lines.take(std::string_view(bytes.data(), size), now, &points);
  }
  pass_on(grown.log, **reading, std::move(points));
  return is_all;
}

void JobMetrics::end(const Grown& grown, Instant now) {
  while (!read(grown, now)) {
  }
  const auto reading = readings_.find(grown.log);
  if (reading == readings_.end()) return;
  std::vector<metrics::NamedPoint> points;
  reading->second.lines.end(now, &points);
  pass_on(grown.log, reading->second, std::move(points));
  readings_.erase(reading);
}

Result<MetricsReply> JobMetrics::reply_to(const GetMetrics& question) {
  TRY(open_reader());
  MetricsReply reply;
  const metrics::RunId run = metrics::run_of(question.job);
  auto data = reader_->data(run);
  if (!data && data.error().code == ErrorCode::not_found) return reply;
  if (!data) return std::move(data).error();
  reply.metrics = std::move(data->metrics);
  reply.params = std::move(data->params);
  reply.tags = std::move(data->tags);
  if (question.name.empty()) return reply;
  metrics::CurveQuery query;
  query.run = run;
  query.name = question.name;
  query.axis = question.axis;
  query.buckets = question.buckets;
  TRY_ASSIGN(reply.curves, reader_->curves(query));
  std::uint64_t buckets = 0;
  for (const metrics::Curve& curve : reply.curves) buckets += curve.buckets.size();
  if (buckets > kMostBuckets)
    return make_error(ErrorCode::resource_exhausted,
                      fmt::format("{} curves of {} points each are too much for one answer; ask "
                                  "for fewer points",
                                  reply.curves.size(), question.buckets));
  return reply;
}

Result<LatestReply> JobMetrics::reply_to(const GetLatest& question) {
  TRY(open_reader());
  LatestReply reply;
  for (const JobId& job : question.jobs) {
    TRY_ASSIGN(auto latest, reader_->latest(metrics::run_of(job), question.metrics));
    if (!latest.empty()) reply.jobs.emplace(job, std::move(latest));
  }
  return reply;
}

}  // namespace lockstep::launcher
