#include "launcher/cli/text/found_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/printable.h"
#include "launcher/api/json/found.h"
#include "launcher/words/found/say_found.h"
#include "launcher/words/found/say_lost_peer.h"

namespace lockstep::cli {

namespace {

constexpr std::size_t kMostFramesOfReport = 12;

std::string key_of(const Found& found) {
  std::string key = fmt::format("{} {}", to_string(found.kind), to_string(found.verdict));
  for (const FoundRank& rank : found.ranks) key += fmt::format(" {}", rank.rank);
  return key;
}

// The names of the last attempt; without attempts, none are known.
words::About names_of_last(const JobView& job) {
  words::About about{job.spec.name};
  if (!job.attempts.empty()) about = api::names_in(job.spec.name, job.attempts.back());
  about.ends_on_hang = job.spec.hang.on == OnHang::fail || job.spec.hang.on == OnHang::retry;
  if (job.spec.hang.on == OnHang::stacks && !job.attempts.empty())
    about.stacks_of_attempt = job.attempts.back().number;
  return about;
}

std::string stack_lines(const ExitReport& report) {
  if (report.backtrace.empty()) return "";
  std::string text = "  the stack of the thread that failed:\n";
  std::string_view rest = report.backtrace;
  for (std::size_t lines = 0; !rest.empty() && lines < kMostFramesOfReport; ++lines) {
    const auto newline = rest.find('\n');
    text += "    | " + in_one_line(rest.substr(0, newline)) + "\n";
    rest = newline == std::string_view::npos ? std::string_view() : rest.substr(newline + 1);
  }
  return text;
}

// The advice about a hang that ended the job.
std::string after_hang(const JobView& job, const Found& hang) {
  const std::string name = in_one_line(job.spec.name);
  if (hang.kind != FoundKind::stopped || hang.ranks.empty())
    return fmt::format(
        "; run it with --on-hang report, and look at its ranks while they hang: `lockstep job "
        "diagnose {}`\n",
        name);
  std::vector<int> ranks;
  for (const FoundRank& rank : hang.ranks) ranks.push_back(rank.rank);
  const bool is_one = ranks.size() == 1;
  return fmt::format(
      ": somebody or something stopped {} (kill -STOP, Ctrl-Z, a debugger); find out who, and run "
      "the job again; with --on-hang report the job is not ended, and `lockstep job signal {}{} "
      "CONT` lets {} go on\n",
      words::ranks_text(ranks), name, is_one ? fmt::format(" --rank {}", ranks.front()) : "",
      is_one ? "the rank" : "all ranks");
}

std::string said_lines(const words::Said& said) {
  std::string text = fmt::format("  {}\n", said.what);
  if (!said.remedy.empty()) text += fmt::format("  {}\n", said.remedy);
  return text;
}

}  // namespace

bool FoundLines::may_say(const Found& found) { return ++times_[key_of(found)] <= kMostTimes; }

std::vector<std::string> FoundLines::on_job(const JobView& job) {
  std::vector<std::string> lines;
  if (job.attempts.empty() || is_final(job.status)) return lines;
  const AttemptView& attempt = job.attempts.back();
  if (attempt.number != attempt_) {
    attempt_ = attempt.number;
    said_.clear();
    times_.clear();
  }
  if (attempt.ended.ns != 0) return lines;
  const words::About names = names_of_last(job);
  const words::FoundDifference difference = words::difference_of(said_, attempt.found);
  const std::string name = in_one_line(job.spec.name);
  for (const Found& found : difference.over)
    if (times_[key_of(found)] <= kMostTimes)
      lines.push_back(fmt::format("{}: {}", name, words::say_over(found, names)));
  for (const Found& found : difference.fresh) {
    if (!may_say(found)) continue;
    const words::Said said = words::say(found, names);
    lines.push_back(fmt::format("{}: {}", name, said.what));
    if (!said.remedy.empty()) lines.push_back("  " + said.remedy);
  }
  said_ = attempt.found;
  return lines;
}

std::vector<FoundText> found_texts(const JobView& job) {
  std::vector<FoundText> texts;
  if (job.attempts.empty() || job.status == JobStatus::completed) return texts;
  const words::About names = names_of_last(job);
  const bool has_ended = is_final(job.status);
  for (const Found& found : job.attempts.back().found) {
    words::Said said = words::say(found, names);
    const bool is_alarm = found.verdict == FoundVerdict::hangs && !has_ended;
    texts.push_back({has_ended  ? "last found"
                     : is_alarm ? "hang"
                                : "found",
                     is_alarm ? words::say_cause(found, names) : std::move(said.what)});
    if (!said.remedy.empty() && !has_ended) texts.back().text += "\n" + said.remedy;
  }
  std::stable_partition(texts.begin(), texts.end(),
                        [](const FoundText& one) { return one.label == "hang"; });
  return texts;
}

std::string alarm_text(const JobView& job) {
  if (job.attempts.empty() || is_final(job.status)) return "";
  for (const Found& found : job.attempts.back().found)
    if (found.verdict == FoundVerdict::hangs) return words::say(found, names_of_last(job)).what;
  return "";
}

std::string cause_lines(const JobView& job, const ExitReport& report) {
  const words::About names = names_of_last(job);
  std::string text = stack_lines(report);
  if (report.lost_peer && report.rank)
    text += said_lines(words::say(*report.lost_peer, *report.rank, names));
  if (report.hang)
    text += "  --on-hang (lockstep.on_hang) ended it" + after_hang(job, *report.hang);
  return text;
}

}  // namespace lockstep::cli
