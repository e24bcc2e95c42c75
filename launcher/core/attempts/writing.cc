#include "launcher/core/attempts/writing.h"

#include <algorithm>

#include "common/domain/why/why.h"

namespace lockstep::launcher {
namespace {

constexpr Duration kFirstPause = seconds(5);
constexpr Duration kLongestPause = minutes(15);  // each pause is twice as long as the previous one
constexpr Duration kGivenUpAfter = minutes(7 * 24 * 60);  // the time since the job ended

const OutputWrite* waiting_write(const Job& job, const std::string& output) {
  const auto found = std::find_if(job.writes.begin(), job.writes.end(),
                                  [&](const OutputWrite& one) { return one.output == output; });
  const bool waits = found != job.writes.end() && found->state == OutputWrite::State::waiting;
  return waits ? &*found : nullptr;
}

WriteOutput request_for(const Job& job, const OutputWrite& write) {
  WriteOutput request;
  request.job = job.id;
  request.order = job.order;
  request.output = write.output;
  request.to = write.to;
  request.user = job.spec.submitter;
  request.project = job.spec.project;
  for (const OutputSpec& output : job.spec.outputs)
    if (output.name == write.output) request.datastore = output.remote;
  for (const MergedOutput& output : *job.merged)
    if (output.name == write.output) {
      request.tree = *output.tree;
      request.file = output.file;
    }
  return request;
}

Duration pause_after(std::uint32_t tries) {
  Duration pause = kFirstPause;
  for (std::uint32_t i = 1; i < tries && pause < kLongestPause; ++i) pause *= 2;
  return std::min(pause, kLongestPause);
}

}  // namespace

void advance_writes(Context& core, const Job& job) {
  Instant next = Instant::never();
  for (const OutputWrite& write : job.writes) {
    if (write.state != OutputWrite::State::waiting) continue;
    if (write.at > core.now)
      next = std::min(next, write.at);
    else if (core.endings.begin_write(job.id, write.output))
      core.act(request_for(job, write));
  }
  const TimerKey timer{TimerKey::Kind::write, {}, {job.id, 0}};
  core.retries.clear(timer);
  if (next != Instant::never()) core.retries.set(timer, next);
}

void react(Context& core, const OutputWrittenInput& input) {
  const Job* job = core.state.job(input.job);
  // The job was deleted while the output was written, and another job may have its name.
  if (job == nullptr || job->order != input.order) return;
  core.endings.end_write(job->id, input.output);
  const OutputWrite* write = waiting_write(*job, input.output);
  if (write == nullptr) return;
  if (!input.why_not) return core.emit(OutputWritten{job->id, input.output});
  const std::uint32_t tries = write->tries + 1;
  const bool is_over = core.now - job->attempts.back().ended_at > kGivenUpAfter;
  core.emit(OutputNotWritten{job->id, input.output, tries, input.why_not,
                             is_over ? Instant{} : core.now + pause_after(tries)});
}

}  // namespace lockstep::launcher
