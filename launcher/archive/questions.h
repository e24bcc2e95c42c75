#pragma once
// What the archive is asked, and what it answers.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/messages/client_protocol.h"
#include "launcher/archive/ended_job.h"

namespace lockstep::archive {

// Whose jobs are found: all; else those of `user` and those of `projects`. Of these the caller may
// read the own ones and the shared ones: no other is found by its tags.
struct Visible {
  bool all = false;
  std::string user = {};
  std::vector<std::string> projects = {};
};

enum class Sort {
  order,  // of submission
  ended,
  name,
};

// The jobs that meet every condition that is set.
struct JobQuery {
  Visible visible = {};
  std::vector<JobStatus> statuses = {};  // one of these; empty: any
  std::string owner = {}, experiment = {}, target = {};
  std::optional<std::string> project = {};
  std::string name = {};                  // '*' stands for any characters, '?' for one
  std::vector<JobFilter::Tag> tags = {};  // all of these
  Instant submitted_from = {}, submitted_to = Instant::never();  // `from` <= time < `to`
  Instant ended_from = {}, ended_to = Instant::never();
  // Of this parent; "": those without one; absent: any.
  std::optional<JobId> parent = {};
  ArchivedToo archived = ArchivedToo::no;

  Sort sort = Sort::order;
  bool descending = true;
  std::size_t limit = 100;  // at most kMaxPageJobs
  std::string after = {};   // JobPage::next of the page before with the same conditions; "": begin
};

struct JobPage {
  std::vector<EndedJob> jobs;
  // Goes on behind what was looked at; "": there are no more. A page has fewer jobs than asked for,
  // perhaps none, when many had to be looked at.
  std::string next;
};
inline constexpr std::size_t kMaxPageJobs = 1'000;
inline constexpr std::size_t kMaxPageBytes = 8u << 20;  // about
// So many jobs are looked at for one page.
inline constexpr std::size_t kMaxExamined = 50'000;
// Of so many, all are read and sorted; of more, an index in the order of the page is gone through.
inline constexpr std::size_t kMaxGathered = 10'000;
inline constexpr std::size_t kMaxQueryTags = 100;
inline constexpr std::size_t kMaxNamePatternBytes = 1'000;

// Sums of use.
struct UseQuery {
  enum class Period { day, week, month, all };  // weeks begin on Mondays
  Period period = Period::all;
  bool by_owner = false, by_project = false, by_target = false;
  std::int64_t from_day = INT64_MIN, to_day = INT64_MAX;  // both included; see day_of()
  std::optional<std::string> owner = {}, project = {}, target = {};
};
struct UseRow {
  UseKey key;  // `day`: the first of its period, 0 for all; "" for what is not asked by
  Use use;
};
inline constexpr std::size_t kMaxUseRows = 100'000;

}  // namespace lockstep::archive
