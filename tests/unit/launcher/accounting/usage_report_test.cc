// Reports of usage: groups, orders, what a user may see, and sums that agree with another program's
// for a recorded month, whatever order its attempts end in.

#include "launcher/accounting/usage_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "launcher/accounting/usage_table.h"
#include "tests/unit/launcher/accounting/uses.h"

namespace lockstep::launcher {
namespace {

using test::random_use;
using test::time_of;
using test::use_of_one;

UsageQuery january(std::vector<UsageBy> by) {
  UsageQuery query;
  query.by = std::move(by);
  query.since = parse_day("2026-01-01").value();
  query.until = parse_day("2026-02-01").value();
  return query;
}
std::string rows_of_report(const UsageReport& report) {
  std::string text;
  for (const UsageReport::Row& row : report.rows) {
    for (const std::string& key : row.keys) text += key + " ";
    text += std::to_string(row.sums.gpu_seconds / 3'600) + "; ";
  }
  return text;
}
UsageLedger small_ledger() {
  UsageLedger ledger;
  ledger.charge(use_of_one("ann", "2026-01-05T08:00", "2026-01-05T10:00"));
  ledger.charge(use_of_one("ann", "2026-01-12T08:00", "2026-01-12T09:00"));
  ledger.charge(use_of_one("bob", "2026-01-12T08:00", "2026-01-12T13:00"));
  ledger.charge(use_of_one("bob", "2026-02-01T08:00", "2026-02-01T13:00"));
  return ledger;
}

TEST(UsageReport, GroupsByWhatIsAsked) {
  const UsageLedger ledger = small_ledger();
  const Instant now = time_of("2026-02-02T00:00");
  EXPECT_EQ(rows_of_report(usage_report(ledger, {}, january({UsageBy::user}), now)),
            "ann 3; bob 5; ");
  EXPECT_EQ(rows_of_report(usage_report(ledger, {}, january({UsageBy::week, UsageBy::user}), now)),
            "2026-W02 ann 2; 2026-W03 ann 1; 2026-W03 bob 5; ");
  EXPECT_EQ(rows_of_report(usage_report(ledger, {}, january({UsageBy::project}), now)),
            "vision 8; ");
  EXPECT_EQ(rows_of_report(usage_report(ledger, {}, january({UsageBy::day}), now)),
            "2026-01-05 2; 2026-01-12 6; ");
  EXPECT_EQ(rows_of_report(usage_report(
                ledger, {}, january({UsageBy::month, UsageBy::target, UsageBy::size}), now)),
            "2026-01 lab Standard_NC6 8; ");
  EXPECT_EQ(usage_report(ledger, {}, january({UsageBy::user}), now).total.gpu_seconds, 8 * 3'600);
}

TEST(UsageReport, IsOrderedAndCutAsAsked) {
  const UsageLedger ledger = small_ledger();
  UsageQuery query = january({UsageBy::day});
  query.order = UsageOrder::gpu;
  EXPECT_EQ(rows_of_report(usage_report(ledger, {}, query, Instant{})),
            "2026-01-12 6; 2026-01-05 2; ");
  query.until = parse_day("2026-03-01").value();
  query.top = 1;
  const UsageReport report = usage_report(ledger, {}, query, Instant{});
  EXPECT_EQ(rows_of_report(report), "2026-01-12 6; (2 others) 7; ");
  EXPECT_EQ(report.others, 2u);
  EXPECT_EQ(report.total.gpu_seconds, 13 * 3'600);
  query.top = 2;  // one row of others would say no less than the row itself
  EXPECT_EQ(usage_report(ledger, {}, query, Instant{}).others, 0u);
}

TEST(UsageReport, OfAUserHasNobodyElsesRows) {
  UsageQuery query = january({UsageBy::user, UsageBy::project});
  query.user = "ann";
  const UsageReport report = usage_report(small_ledger(), {}, query, Instant{});
  EXPECT_EQ(rows_of_report(report), "ann vision 3; ");
  EXPECT_EQ(report.total.gpu_seconds, 3 * 3'600);
  query.user = "nobody";
  EXPECT_TRUE(usage_report(small_ledger(), {}, query, Instant{}).rows.empty());
}

TEST(UsageReport, HasWhatRunsUntilNow) {
  AttemptUse runs = use_of_one("eve", "2026-01-31T20:00", "2026-01-31T20:00");
  runs.ended.reset();
  runs.outcome = Outcome::running;
  const std::vector<AttemptUse> running{runs};
  const UsageReport report =
      usage_report(small_ledger(), running, january({UsageBy::user}), time_of("2026-02-01T06:00"));
  // Four hours are in January.
  EXPECT_EQ(rows_of_report(report), "ann 3; bob 5; eve 4; ");
  // When it has ended, the ledger has it, and it is counted once.
  runs.ended = time_of("2026-02-01T06:00");
  UsageLedger ledger = small_ledger();
  ledger.charge(runs);
  EXPECT_EQ(rows_of_report(usage_report(ledger, std::vector<AttemptUse>{runs},
                                        january({UsageBy::user}), time_of("2026-02-01T06:00"))),
            "ann 3; bob 5; eve 4; ");
}

// A month of 20,000 attempts. The other program knows no days: it adds up whole attempts by user.
TEST(UsageReport, AgreesWithASumOverAttempts) {
  std::mt19937 random(17);
  std::vector<AttemptUse> attempts;
  for (int i = 0; i < 20'000; ++i) attempts.push_back(random_use(random, false));
  UsageLedger ledger;
  std::map<std::string, UsageSums> expected;
  for (const AttemptUse& use : attempts) {
    ledger.charge(use);
    UsageSums& sums = expected[use.user];
    const std::int64_t ms = std::chrono::floor<milliseconds>(*use.ended - *use.placed).count();
    std::map<std::string, std::int64_t> cpus;
    for (const HeldPart& part : use.parts) cpus[part.size] += part.cpus;
    for (const auto& [size, count] : cpus) sums.cpu_seconds += count * ms / 1'000;
    for (const HeldPart& part : use.parts)
      if (part.used && ms > 0)
        sums.used_cpu_seconds += std::chrono::floor<seconds>(part.used->cpu).count();
    ++sums.started;
    ++sums.waits;
    sums.wait_seconds += std::chrono::floor<seconds>(*use.placed - *use.waited_from).count();
  }
  UsageQuery all = january({UsageBy::user});
  all.until = parse_day("2026-04-01").value();
  const UsageReport report = usage_report(ledger, {}, all, Instant{});
  ASSERT_EQ(report.rows.size(), expected.size());
  for (const UsageReport::Row& row : report.rows) {
    const UsageSums& wanted = expected[row.keys[0]];
    EXPECT_EQ(row.sums.cpu_seconds, wanted.cpu_seconds) << row.keys[0];
    EXPECT_EQ(row.sums.used_cpu_seconds, wanted.used_cpu_seconds);
    EXPECT_EQ(row.sums.started, wanted.started);
    EXPECT_EQ(row.sums.waits, wanted.waits);
    EXPECT_EQ(row.sums.wait_seconds, wanted.wait_seconds);
  }
  // The order does not matter, nor does it how the rows are put together.
  std::shuffle(attempts.begin(), attempts.end(), random);
  UsageLedger shuffled;
  for (const AttemptUse& use : attempts) shuffled.charge(use);
  EXPECT_EQ(shuffled, ledger);
  UsageLedger merged;
  merged.add(ledger.rows());
  EXPECT_EQ(merged, ledger);
  // Groups are parts of the whole.
  for (const UsageBy by : kUsageBys) {
    UsageQuery query = all;
    query.by = {by};
    UsageSums sums;
    for (const UsageReport::Row& row : usage_report(ledger, {}, query, Instant{}).rows)
      sums += row.sums;
    EXPECT_EQ(sums, report.total) << to_string(by);
  }
  // A month at a time is the same as all at once.
  UsageSums months;
  for (const auto& [since, until] :
       {std::pair("2026-01-01", "2026-02-01"), std::pair("2026-02-01", "2026-04-01")}) {
    UsageQuery query = all;
    query.since = parse_day(since).value();
    query.until = parse_day(until).value();
    months += usage_report(ledger, {}, query, Instant{}).total;
  }
  EXPECT_EQ(months, report.total);
}

TEST(UsageBy, IsRead) {
  EXPECT_EQ(parse_usage_by("user, week").value(),
            (std::vector<UsageBy>{UsageBy::user, UsageBy::week}));
  for (const UsageBy by : kUsageBys)
    EXPECT_EQ(parse_usage_by(to_string(by)).value(), std::vector<UsageBy>{by});
  const std::pair<const char*, const char*> cases[] = {
      {"", "'' is nothing to group by; there are user, project, target, size, day, week, month"},
      {"user,",
       "'' is nothing to group by; there are user, project, target, size, day, week, "
       "month"},
      {"users", "'users' is nothing to group by; did you mean 'user'?"},
      {"User", "'User' is nothing to group by; did you mean 'user'?"},
      {"partition",
       "'partition' is nothing to group by; there are user, project, target, size, "
       "day, week, month"},
      {"user,user", "'user' is there twice"},
      {"day,user,week", "day, week and month exclude each other; leave all but one out"}};
  for (const auto& [text, message] : cases) {
    const auto by = parse_usage_by(text);
    ASSERT_FALSE(by) << text;
    EXPECT_EQ(by.error().message, message);
    EXPECT_EQ(by.error().code, ErrorCode::invalid_argument);
  }
  EXPECT_EQ(usage_order_from("cost"), UsageOrder::cost);
  EXPECT_EQ(usage_order_from("price"), std::nullopt);
  EXPECT_EQ(usage_unit_from("hours"), UsageUnit::hours);
  EXPECT_EQ(usage_unit_from("days"), std::nullopt);
}

TEST(UsageTable, IsForPeople) {
  UsageLedger ledger;
  AttemptUse use = use_of_one("ann", "2026-01-05T08:00", "2026-01-05T10:00");
  use.parts[0].used = HeldPart::Used{minutes(240), minutes(90), 8'192 * 3'600};
  ledger.charge(use);
  ledger.charge(use_of_one("bob", "2026-01-12T08:00", "2026-01-12T08:30"));
  const UsageReport report = usage_report(ledger, {}, january({UsageBy::user}), Instant{});
  EXPECT_EQ(
      table_text(usage_table(report, UsageUnit::hours)),
      "USER   ATTEMPTS  FAILED    WAIT  NODE-H  CPU-H  USED  GPU-H  BUSY  GIB-H  USED  COST\n"
      "ann           1       0  10m00s     2.0    8.0   50%    2.0   75%   16.0   50%  1.80\n"
      "bob           1       0  10m00s     0.5    2.0     -    0.5     -    4.0     -  0.45\n"
      "total         2       0  10m00s     2.5   10.0   50%    2.5   75%   20.0   50%  2.25\n");
  EXPECT_EQ(usage_table(report, UsageUnit::minutes).rows[0][5], "480.0");
  EXPECT_EQ(usage_table(report, UsageUnit::seconds).rows[0][5], "28800");
}

TEST(UsageCells, AreForPrograms) {
  UsageLedger ledger;
  ledger.charge(use_of_one("ann", "2026-01-05T08:00", "2026-01-05T10:00"));
  EXPECT_EQ(csv_text(usage_cells(
                usage_report(ledger, {}, january({UsageBy::user, UsageBy::month}), Instant{}))),
            "user,month,started,completed,failed,canceled,retried,waits,wait_seconds,node_seconds,"
            "cpu_seconds,gpu_seconds,memory_mib_seconds,used_cpu_seconds,used_gpu_seconds,"
            "used_memory_mib_seconds,measured_cpu_seconds,measured_gpu_seconds,"
            "measured_memory_mib_seconds,cost_micros\n"
            "ann,2026-01,1,1,0,0,0,1,600,7200,28800,7200,58982400,0,0,0,0,0,0,1800000\n");
}

}  // namespace
}  // namespace lockstep::launcher
