// Which words of a job's answers each reader is told: a table of readers and texts. A text without
// a column here is one that every reader of the table is shown.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "common/domain/why/all/convert.h"
#include "common/domain/why/jobs/waits.h"
#include "common/wire/messages/control.h"
#include "launcher/api/queries/viewer.h"
#include "launcher/core/core.h"
#include "launcher/core/explain/words_of.h"
#include "launcher/words/why.h"
#include "tests/unit/support/print_why.h"

namespace lockstep::launcher {
namespace {

// y: shown as it is. -: not at all. h: with the name of a job that they may not see replaced.
constexpr const char* kExpected = R"(
text          owner admin mate shared viewer operator stranger attempt
waits         y     y     y    y      y      y        -        y
failed        y     y     -    y      -      -        -        y
stderr        y     y     -    y      -      -        -        y
attempt       y     y     -    y      -      -        -        y
tail          y     y     -    y      -      -        -        y
retried       y     y     -    y      -      -        -        y
also          y     y     -    y      -      -        -        y
progress      y     y     -    y      -      -        -        y
note          y     y     -    y      -      -        -        y
solves        y     y     -    y      -      -        -        y
call          y     y     -    y      -      -        -        y
file          y     y     -    y      -      -        -        y
frame         y     y     -    y      -      -        -        y
fact          y     y     -    y      -      -        -        y
hung_in       y     y     -    y      -      -        -        y
peer          y     y     -    y      -      -        -        y
backtrace     y     y     -    y      -      -        -        y
path          y     y     -    y      -      -        -        y
setting       y     y     -    y      -      -        -        y
step          y     y     -    y      -      -        -        y
merged        y     y     -    y      -      -        -        y
written       y     y     -    y      -      -        -        y
line_all      y     y     y    y      y      y        -        y
line_readers  y     y     -    y      -      -        -        y
event         y     y     -    y      -      -        -        y
)";

const std::map<std::string, Caller> kReaders = {
    {"owner", UserCaller{"ann"}},    {"admin", UserCaller{"root"}},
    {"mate", UserCaller{"mate"}},    {"shared", UserCaller{"mate"}},
    {"viewer", UserCaller{"vic"}},   {"operator", UserCaller{"op"}},
    {"stranger", UserCaller{"eve"}}, {"attempt", AttemptCaller{{JobId("j"), 1}, "ann", "default"}},
};

std::string canary(const std::string& text) { return "canary-of-" + text; }

struct World {
  World() {
    const auto add = [&](const char* name, const Grant& grant) {
      core.replay({at, UserAdded{name, name, ""}});
      core.replay({at, RoleGranted{name, grant, ""}});
    };
    core.replay({at, ProjectCreated{"audio", ""}});
    add("ann", {Role::submitter, "default"});
    add("mate", {Role::submitter, "default"});
    add("vic", {Role::viewer, "default"});
    add("op", {Role::operator_, ""});
    add("root", {Role::admin, ""});
    add("eve", {Role::submitter, "audio"});
    submit("j", "ann", "default");
    submit("hidden", "eve", "audio");
    core.replay({at, NodeJoined{NodeId(1), "n1", PublicKey(std::string(40, 'n')), sha256("t")}});
    AttemptPlaced placed;
    placed.attempt = {JobId("j"), 1};
    placed.parts = {{NodeId(1), {}}};
    core.replay({at, placed});
  }
  void submit(const char* name, const char* user, const char* project) {
    JobSubmitted submitted;
    submitted.job = JobId(name);
    submitted.spec.name = name;
    submitted.spec.command = ShellCommand{"true"};
    submitted.spec.submitter = user;
    submitted.spec.project = project;
    core.replay({at, submitted});
  }

  Instant at{1'700'000'000'000'000'000};
  Core core{CoreConfig{}};
};

JobView job(bool shared) {
  JobView view;
  view.spec.name = "j";
  view.spec.submitter = "ann";
  view.spec.project = "default";
  view.spec.command = ShellCommand{"true"};
  view.shared = shared;
  view.why = view.why_for_all = told(canary("waits"));
  view.report.emplace().why = told(canary("failed"));
  view.report->stderr_tail = canary("stderr");
  AttemptView& attempt = view.attempts.emplace_back();
  attempt.report.emplace().why = told(canary("attempt"));
  attempt.report->stderr_tail = canary("tail");
  attempt.report->also.emplace_back().why = told(canary("also"));
  attempt.why = told(canary("retried"));
  PartView& part = attempt.parts.emplace_back();
  part.progress = canary("progress");
  part.notes_why = {told(canary("note"))};
  part.environment.emplace().how = canary("solves");
  part.settings = {{"A", canary("setting"), SettingSource::probe, "", ""}};
  FoundRank rank{0, 0, "reads", canary("call"), canary("file"), canary("frame"), 0};
  Found& found = attempt.found.emplace_back();
  found.ranks = {rank};
  found.fact = canary("fact");
  rank = {0, 0, "reads", "", "", canary("hung_in"), 0};
  attempt.report->hang.emplace().ranks = {rank};
  attempt.report->lost_peer.emplace().address = canary("peer");
  attempt.report->backtrace = canary("backtrace");
  attempt.probe.emplace().failures.emplace_back().from_address = canary("path");
  view.steps.emplace_back().why = told(canary("step"));
  view.merged.push_back({"out", {}, "", {canary("merged")}});
  view.writes.push_back(
      {"out", "", OutputWrite::State::waiting, 0, "", {}, told(canary("written"))});
  return view;
}

// All that the reader is sent of the job.
std::string sent_to(const World& world, const std::string& reader) {
  const Viewer viewer(world.core.state(), kReaders.at(reader));
  const Job& known = *world.core.state().job(JobId("j"));
  if (!viewer.sees(known)) return "";
  const JobView view = job(reader == "shared");
  ExplainView explained;
  explained.job = view;
  LinesFor lines;
  lines.add(WordsOf::launcher, told(canary("line_all")));
  lines.add(WordsOf::job, told(canary("line_readers")));
  explained.reasons = lines.lines;
  std::string bytes;
  for (const ClientReply& reply : {ClientReply(JobReply{viewer.cut(view)}),
                                   ClientReply(ExplainReply{viewer.cut(explained)})}) {
    Envelope<ClientReply> envelope;
    envelope.body = reply;
    bytes += wire::encode(envelope);
  }
  const bool reads = reader == "shared" || viewer.reads(known);
  return bytes + viewer.tell(WordsOf::job, canary("event"), reads);
}

TEST(Words, AreToldByTheirClass) {
  const World world;
  std::istringstream table(kExpected);
  std::string line, word;
  std::getline(table, line);
  std::getline(table, line);
  std::istringstream head(line);
  std::vector<std::string> readers;
  for (head >> word; head >> word;) readers.push_back(word);
  ASSERT_EQ(readers.size(), kReaders.size());
  std::string text, cell;
  while (table >> text)
    for (const std::string& reader : readers) {
      ASSERT_TRUE(table >> cell);
      const bool is_shown = sent_to(world, reader).find(canary(text)) != std::string::npos;
      EXPECT_EQ(is_shown, cell == "y") << text << " for " << reader;
    }
}

// Other jobs that the reader may not see are not named to them, whatever the text is; only what
// ranks wrote is never changed.
TEST(Words, NameNoJobThatTheReaderMayNotSee) {
  const World world;
  for (const std::string reader : {"owner", "admin"}) {
    const Viewer viewer(world.core.state(), kReaders.at(reader));
    const bool sees = reader == "admin";
    JobView view = job(false);
    const std::string named = "node n2 solves it for job 'hidden', and hidden.1 runs there";
    view.why = view.steps[0].why = told(named);
    view.report->why = view.attempts[0].why = told(named);
    view.attempts[0].parts[0].progress = named;
    view.attempts[0].parts[0].environment->why = told(named);
    view.attempts[0].parts[0].notes_why = {told(named)};
    view.report->stderr_tail = named;
    view = viewer.cut(view);
    const std::string shown =
        sees ? named
             : "node n2 solves it for a job of another project, and a job of another project runs "
               "there";
    EXPECT_EQ(view.reason, shown);
    EXPECT_EQ(view.report->message, shown);
    EXPECT_EQ(view.report->why, told(shown));
    EXPECT_EQ(view.attempts[0].retried, shown);
    EXPECT_EQ(view.steps[0].reason, shown);
    EXPECT_EQ(view.attempts[0].parts[0].progress, shown);
    EXPECT_EQ(view.attempts[0].parts[0].environment->how, shown);
    EXPECT_EQ(view.attempts[0].parts[0].environment->why, told(shown));
    EXPECT_EQ(view.attempts[0].parts[0].notes, std::vector<std::string>{shown});
    EXPECT_EQ(view.attempts[0].parts[0].notes_why, std::vector<Why>{told(shown)});
    EXPECT_EQ(view.report->stderr_tail, named);
  }
}

// A reason names jobs as data, and within other reasons.
TEST(Words, OfAReasonNameNoJobThatTheReaderMayNotSee) {
  const World world;
  const JobId job("hidden");
  const Why whole = WaitsAgain{WaitsForLogs{{job, 1}, {"n1"}, told("hidden.1 is full")},
                               WaitsBehindJob{job, WaitsAtHead{NodeSays{"n1", "for job 'hidden'"},
                                                               {{}, JobHasNoLimit{job}}}}};
  const auto as_shown = [&](const JobId& to, const std::string& text) {
    return Why(WaitsAgain{
        WaitsForLogs{{to, 1}, {"n1"}, told(text + " is full")},
        WaitsBehindJob{to, WaitsAtHead{NodeSays{"n1", "for " + text}, {{}, JobHasNoLimit{to}}}}});
  };
  const auto cut = [&](const std::string& reader) {
    return Viewer(world.core.state(), kReaders.at(reader)).cut(whole);
  };
  EXPECT_EQ(cut("admin"), whole);
  EXPECT_EQ(cut("owner"),
            as_shown(lockstep::hidden(HiddenJob::of_another_project), "a job of another project"));
  EXPECT_EQ(cut("attempt"), as_shown(lockstep::hidden(HiddenJob::any), "another job"));
  EXPECT_EQ(words::text_of(cut("owner")).find("hidden"), std::string::npos);
}

TEST(Words, OfAReasonOfALaterVersionNameNoJobEither) {
  const World world;
  const auto later = [](const std::string& job, const std::string& text) {
    return WhyData{"of_tomorrow",
                   {{"of", {job}},
                    {"list", {WhyList{{WhyData{"", {{"how", {"for " + text}}}}}}}},
                    {"count", {std::int64_t{7}}}}};
  };
  const Why why = why_of(later("hidden", "job 'hidden'")).value();
  const auto cut = [&](const std::string& reader) {
    return to_data(Viewer(world.core.state(), kReaders.at(reader)).cut(why));
  };
  EXPECT_EQ(cut("admin"), later("hidden", "job 'hidden'"));
  EXPECT_EQ(cut("owner"), later(lockstep::hidden(HiddenJob::of_another_project).value,
                                "a job of another project"));
}

TEST(Words, ALineThatIsNotToldIsLeftOut) {
  const World world;
  ExplainView explained;
  explained.job = job(false);
  explained.reasons = {{told("a"), {}, 0}, {told("b"), told("c"), 1}, {{}, told("d"), 2}};
  const auto lines = [&](const std::string& reader) {
    return Viewer(world.core.state(), kReaders.at(reader)).cut(explained).lines;
  };
  EXPECT_THAT(lines("owner"), testing::ElementsAre("a", "  b"));
  EXPECT_THAT(lines("mate"), testing::ElementsAre("  c", "    d"));
}

TEST(Words, OfAllClassesHaveOneRule) {
  EXPECT_TRUE(is_told(WordsOf::launcher, false));
  for (const WordsOf of : {WordsOf::job, WordsOf::output}) {
    EXPECT_FALSE(is_told(of, false));
    EXPECT_TRUE(is_told(of, true));
  }
  LinesFor lines;
  lines.add(WordsOf::job, told("it wrote /secret/path"), told("it failed"));
  lines.add(WordsOf::job, {}, told("nothing"));
  lines.add(WordsOf::job, {}, {});
  lines.add(WordsOf::launcher, told("it waits"), told("it is not read"), 1);
  const std::vector<ExplainLine> expected = {{told("it wrote /secret/path"), told("it failed"), 0},
                                             {{}, told("nothing"), 0},
                                             {told("it waits"), told("it waits"), 1}};
  EXPECT_EQ(lines.lines, expected);
}

}  // namespace
}  // namespace lockstep::launcher
