#include "launcher/cli/follow/log_selection.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>

#include "launcher/cli/base/verb_table.h"
#include "launcher/cli/terminal/line_matcher.h"

namespace lockstep::cli {

namespace {

Error wrong(const std::string& verb, const std::string& what) {
  return make_error(ErrorCode::invalid_argument, verb + ": " + what);
}

// Minutes east of Greenwich; nullopt: not "Z", "+hh:mm" or "-hh:mm".
std::optional<int> parse_zone(const std::string& text) {
  if (text == "Z" || text == "z") return 0;
  int hours = 0, minutes = 0, end = 0;
  char sign = 0;
  if (std::sscanf(text.c_str(), "%c%2d:%2d%n", &sign, &hours, &minutes, &end) != 3) return {};
  if (end != static_cast<int>(text.size()) || end != 6 || (sign != '+' && sign != '-')) return {};
  const int east = hours * 60 + minutes;
  return sign == '+' ? east : -east;
}

// Parses ".25" as 250,000,000; nullopt: not a fraction. `rest` then begins after it.
std::optional<std::int64_t> parse_fraction(const std::string& text, std::string* rest) {
  *rest = text;
  if (text.empty() || text[0] != '.') return 0;
  const auto end = text.find_first_not_of("0123456789", 1);
  std::string digits = text.substr(1, end == std::string::npos ? end : end - 1);
  if (digits.empty() || digits.size() > 9) return {};
  *rest = end == std::string::npos ? "" : text.substr(end);
  digits.resize(9, '0');
  return std::stoll(digits);
}

std::optional<Instant> parse_rfc3339(const std::string& text) {
  std::tm time{};
  char separator = 0;
  int end = 0;
  const int fields =
      std::sscanf(text.c_str(), "%4d-%2d-%2d%c%2d:%2d:%2d%n", &time.tm_year, &time.tm_mon,
                  &time.tm_mday, &separator, &time.tm_hour, &time.tm_min, &time.tm_sec, &end);
  const bool shaped = fields == 7 && end == 19 && (separator == 'T' || separator == 't');
  if (!shaped || time.tm_mon < 1 || time.tm_mon > 12 || time.tm_mday < 1 || time.tm_mday > 31 ||
      time.tm_hour > 23 || time.tm_min > 59 || time.tm_sec > 60)
    return {};
  std::string zone;
  const auto fraction = parse_fraction(text.substr(19), &zone);
  const auto east = parse_zone(zone);
  if (!fraction || !east || time.tm_year < 1970 || time.tm_year > 2200) return {};
  time.tm_year -= 1900;
  time.tm_mon -= 1;
  const std::int64_t seconds_since = ::timegm(&time) - std::int64_t{60} * *east;
  if (seconds_since < 0) return {};
  return Instant{seconds_since * 1'000'000'000 + *fraction};
}

}  // namespace

Result<Instant> parse_since(const std::string& text, Instant now) {
  if (const auto instant = parse_rfc3339(text)) return *instant;
  if (text.size() == 10)
    if (const auto midnight = parse_rfc3339(text + "T00:00:00Z")) return *midnight;
  const Duration before = parse_duration(text);
  if (before >= Duration::zero() && before.count() <= now.ns) return now - before;
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format("--since '{}' is not a time; write how long ago (90s, 10m, 2h, 1d), a day "
                  "(2026-01-31), or a time with its zone (2026-01-31T12:00:00Z)",
                  text));
}

void add_log_selection(CLI::App& verb, LogSelection& selection) {
  auto* rank = verb.add_option("--rank", selection.rank, "only this rank (global)");
  rank->check(whole_number(0));
  verb.add_option("--node", selection.node_word, "only this node: its name, or its rank in the job")
      ->check(filled("leave it out to see all nodes"));
  auto* out = verb.add_flag("--stdout", selection.only_out, "only standard output");
  auto* err = verb.add_flag("--stderr", selection.only_err, "only standard error")->excludes(out);
  verb.add_flag("--environment", selection.environment,
                "only the log of how each node's environment was solved and built")
      ->excludes(rank)
      ->excludes(out)
      ->excludes(err);
  verb.add_option("--tail", selection.tail, "only the last lines of each rank and stream")
      ->check(whole_number(0));
  verb.add_option("--since", selection.since,
                  "only lines since this time: 10m (ago), 2026-01-31, or 2026-01-31T12:00:00Z")
      ->check(filled("leave it out to begin at the first line"));
  verb.add_option("--grep", selection.grep, "only lines that match this regular expression")
      ->check(filled("leave it out to see all lines"));
  verb.add_flag("-t,--timestamps", selection.timestamps, "print the time (UTC) before each line");
  verb.add_flag("--no-prefix", selection.no_prefix, "print lines without the prefix NODE:RANK |");
  add_raw(verb, selection.raw);
}

Status find_node(LogSelection* selection, const std::string& verb, const JobView& job,
                 std::uint32_t attempt) {
  const std::string& word = selection->node_word;
  if (word.empty()) return {};
  if (word.find_first_not_of("0123456789") == std::string::npos && word.size() < 9) {
    selection->node = std::stoi(word);
    return {};
  }
  if (job.attempts.empty())
    return wrong(verb, fmt::format("{} has not been placed on nodes yet", job.spec.name));
  const std::size_t number = attempt == 0 ? job.attempts.size() : attempt;
  std::string names;
  for (const PartView& part : job.attempts.at(number - 1).parts) {
    if (part.node_name == word) selection->node = part.node_rank;
    names += (names.empty() ? "" : ", ") + part.node_name;
  }
  if (selection->node) return {};
  return wrong(verb, fmt::format("attempt {} of {} did not run on a node '{}'; its nodes: {}",
                                 number, job.spec.name, word, names));
}

namespace {

// Checks selections for a pipeline: each step has its own ranks and nodes, so some selections need
// a step.
Status check_for_pipeline(const LogSelection& selection, const std::string& verb,
                          const std::string& name) {
  const auto needs_step = [&](const char* option) {
    return wrong(verb,
                 fmt::format("{} is about the job of one step: add --step STEP (`lockstep job "
                             "show {}` lists the steps)",
                             option, name));
  };
  if (selection.rank) return needs_step("--rank");
  if (!selection.node_word.empty()) return needs_step("--node");
  if (selection.tail == 0) return needs_step("--tail 0");
  return {};
}

Status check_for_job(const LogSelection& selection, const std::string& verb, const JobSpec& spec) {
  if (selection.rank && *selection.rank >= spec.world_size())
    return wrong(verb, fmt::format("{0} has no rank {2}; its ranks are 0 to {1}", spec.name,
                                   spec.world_size() - 1, *selection.rank));
  if (selection.node && *selection.node >= spec.resources.instance_count)
    return wrong(verb, fmt::format("{0} has no node {2}; its nodes are 0 to {1}", spec.name,
                                   spec.resources.instance_count - 1, *selection.node));
  if (selection.environment && !spec.environment)
    return wrong(verb,
                 fmt::format("{} has no environment, so it has no environment log", spec.name));
  return {};
}

}  // namespace

Status apply(const LogSelection& selection, const std::string& verb, const JobSpec& spec,
             Instant now, FollowOptions* follow) {
  TRY(spec.is_pipeline() ? check_for_pipeline(selection, verb, spec.name)
                         : check_for_job(selection, verb, spec));
  LogFollow& filter = follow->filter;
  if (!selection.since.empty()) {
    const auto since = parse_since(selection.since, now);
    if (!since) return wrong(verb, since.error().message);
    filter.since = *since;
  }
  if (!selection.grep.empty()) {
    const auto matcher = LineMatcher::compile(selection.grep);
    if (!matcher) return wrong(verb, "--grep " + matcher.error().message);
    follow->wanted = *matcher;
  }
  filter.rank = selection.rank;
  filter.node_rank = selection.node;
  if (selection.only_out) filter.stream = LogStream::out;
  if (selection.only_err) filter.stream = LogStream::err;
  if (selection.environment) filter.stream = LogStream::environment;
  filter.tail_lines = selection.tail;
  follow->timestamps = selection.timestamps;
  follow->no_prefix = selection.no_prefix;
  follow->single_log = selection.environment
                           ? selection.node.has_value() || spec.resources.instance_count == 1
                           : selection.rank.has_value() || spec.world_size() == 1;
  follow->raw = selection.raw;
  return {};
}

}  // namespace lockstep::cli
