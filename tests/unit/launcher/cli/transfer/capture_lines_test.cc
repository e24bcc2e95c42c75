#include "launcher/cli/transfer/capture_lines.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

using Lines = std::vector<std::string>;

TEST(CaptureLines, NothingOutsideNothingToSay) { EXPECT_EQ(capture_lines(".", {}), Lines{}); }

TEST(CaptureLines, NamesWhatLinksAdd) {
  snapshot::CaptureReport report;
  report.followed = {{"a/", "/mnt/a", true, 1204, kibibytes(3)},
                     {"a/x/", "/mnt/x", false, 0, {}},
                     {"b.csv", "/tmp/b\n.csv", true, 1, Bytes{12}}};
  EXPECT_EQ(capture_lines("src", report),
            (Lines{"2 symlinks of src lead out of it, so what they lead to is taken along: a -> "
                   "/mnt/a (1,204 files, 3.0 KiB), b.csv -> \"/tmp/b\\n.csv\" (12 B); --links keep "
                   "(lockstep.links in a job file) takes links as they are"}));
}

// `data`, `model` and `component create` have neither the flag nor the key.
TEST(CaptureLines, OfARegistrationNoFlagIsAdvised) {
  snapshot::CaptureReport report;
  report.followed = {{"a/", "/mnt/a", true, 1, gibibytes(3)}};
  EXPECT_EQ(capture_lines("src", report, CapturedFor::registration),
            (Lines{"1 symlink of src leads out of it, so what it leads to is taken along: a -> "
                   "/mnt/a (1 file, 3.0 GiB); what is registered always has it; remove a link to "
                   "leave it out",
                   "that adds 3.0 GiB to src: remove the links whose files need not be "
                   "registered"}));
}

TEST(CaptureLines, AGigabyteHasALineOfItsOwn) {
  snapshot::CaptureReport report;
  report.followed = {{"a/", "/mnt/a", true, 1, gibibytes(3)}};
  const Lines lines = capture_lines("src", report);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1],
            "that adds 3.0 GiB to src: name what the job does not need in .amlignore or "
            ".gitignore, or keep the links");
}

TEST(CaptureLines, ManyAreCountedTheLargestNamed) {
  snapshot::CaptureReport report;
  for (int i = 0; i < 9; ++i)
    report.followed.push_back({fmt::format("l{}", i), "/x", true, 1, Bytes{10u + i}});
  const Lines lines = capture_lines("src", report);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("taken along: l8 -> /x (18 B), "), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find(", and 5 more; "), std::string::npos) << lines[0];
}

TEST(CaptureLines, SaysWhyLinksStay) {
  snapshot::CaptureReport report;
  report.kept = {{"up", "..", "it contains the folder itself"}};
  report.notes = {"a note"};
  EXPECT_EQ(capture_lines(".", report),
            (Lines{"a note",
                   "1 symlink of . leads out of it and stays a link: up -> .. (it contains the "
                   "folder itself)"}));
}

}  // namespace
}  // namespace lockstep::cli
