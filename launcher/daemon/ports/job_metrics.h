#pragma once
// The metrics of this launcher's jobs (launcher/metrics): it describes each job that asks for some
// as a run, reads the numbers that its ranks print as their logs come in, and answers what was
// logged. Patterns and questions of users take their time on a worker, never on the loop. No
// decision rests on metrics: without the store jobs run on.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/messages/bulk_protocol.h"
#include "common/io/event_loop.h"
#include "launcher/api/ports/run_metrics.h"
#include "launcher/core/base/action.h"
#include "launcher/daemon/work/worker.h"
#include "launcher/metrics/reader.h"
#include "launcher/metrics/sources/line_metrics.h"
#include "launcher/metrics/writer.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

class JobMetrics final : public RunMetrics {
 public:
  // Opens the store at `path`; one that cannot be opened is logged, and then there is none. `loop`
  // and `state` must outlive it.
  JobMetrics(io::EventLoop& loop, const State& state, const std::string& path,
             std::string log_root);
  ~JobMetrics() override;

  void get(const GetMetrics& question, std::function<void(ClientReply)> then) override;
  void latest(const GetLatest& question, std::function<void(ClientReply)> then) override;

  // What an earlier process may not have read or written any more.
  void begin();
  void grew(const LogKey& log);
  void perform(const JobChanged& action) { describe(action.job); }
  void perform(const ForgetJob& action);
  // Called at the end of each turn: lets the worker read what has grown.
  void turn_end(Instant now);

 private:
  using Patterns = std::shared_ptr<const metrics::LinePatterns>;
  // One log that is read.
  struct Reading {
    Reading(const metrics::LinePatterns& patterns, const metrics::SourceMark& from)
        : lines(patterns, from.state), offset(from.offset), base(from.offset) {}
    metrics::LineMetrics lines;
    std::uint64_t offset;  // of the next byte to read
    std::uint64_t base;    // where `lines` began
  };
  struct Grown {
    LogKey log;
    Patterns patterns;
  };

  void describe(const JobId& job);
  template <class Question>
  void ask_worker(const Question& question, std::function<void(ClientReply)> then);
  Patterns patterns_of(const Job& job);
  void write(metrics::Change change);
  // These run on the worker.
  bool read(const Grown& grown, Instant now);  // false: there is more
  void end(const Grown& grown, Instant now);
  Result<Reading*> reading_of(const Grown& grown);
  void pass_on(const LogKey& log, Reading& reading, std::vector<metrics::NamedPoint> points);
  Status open_reader();
  Result<MetricsReply> reply_to(const GetMetrics& question);
  Result<LatestReply> reply_to(const GetLatest& question);

  io::EventLoop& loop_;
  const State& state_;
  const std::string path_, log_root_;
  std::unique_ptr<metrics::Writer> writer_;  // null: there is no store
  // Of jobs that have not ended: what was written last, and their patterns.
  std::map<JobId, metrics::RunInfo> told_;
  std::map<JobId, Patterns> patterns_;
  std::set<LogKey> grown_;
  std::set<JobId> over_;  // have ended since the last turn
  bool is_reading_ = false;
  int answering_ = 0;
  std::optional<metrics::Reader> reader_;  // the worker's, as all that follows
  std::map<LogKey, Reading> readings_;
  Worker worker_;  // last member, so that it is destroyed first
};

}  // namespace lockstep::launcher
