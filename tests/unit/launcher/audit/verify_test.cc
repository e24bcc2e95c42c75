// Whatever is changed, removed, added or moved in the log's files is found, and the first such
// entry is named by file and line.

#include "tests/unit/launcher/audit/audit_files.h"

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class Verify : public AuditFiles {
 protected:
  Verify() {
    AuditLog log = open();
    fill(log, 1, 5);
    path_ = paths().front();
    lines_ = lines_of(path_);
  }
  std::string path_;
  std::vector<std::string> lines_;
};

TEST_F(Verify, WhatWasWrittenIsWhole) {
  EXPECT_EQ(problem(), "");
  const AuditVerified found = verified();
  EXPECT_EQ(found.entries, 5u);
  EXPECT_EQ(found.first, 1u);
  EXPECT_EQ(found.last.number, 5u);
  EXPECT_THAT(found.notes, IsEmpty());
}

TEST_F(Verify, EveryByteOfEveryEntryCounts) {
  for (std::size_t line = 0; line < lines_.size(); ++line)
    for (std::size_t at = 0; at < lines_[line].size(); ++at) {
      auto changed = lines_;
      changed[line][at] = changed[line][at] == 'x' ? 'y' : 'x';
      put(path_, changed);
      ASSERT_THAT(problem(), HasSubstr("audit-00000001.jsonl:" + std::to_string(line + 1) + ":"))
          << "byte " << at;
    }
}

TEST_F(Verify, AnEntryThatWasWrittenAnewWithItsDigestIsFound) {
  auto changed = lines_;
  AuditEntry entry = *audit_entry(lines_[2]);
  entry.who = "bob";
  changed[2] = audit_line(entry, std::string(audit_link(lines_[2])->prev)).text;
  put(path_, changed);
  EXPECT_THAT(problem(),
              HasSubstr("audit-00000001.jsonl:4: entry 4 does not match the entry 3 before it"));
}

TEST_F(Verify, AnEntryThatIsRemovedDoubledOrMovedIsFound) {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    auto removed = lines_;
    removed.erase(removed.begin() + static_cast<std::ptrdiff_t>(i));
    put(path_, removed);
    EXPECT_THAT(problem(), HasSubstr("missing")) << "entry " << i + 1 << " is removed";
    auto doubled = lines_;
    doubled.insert(doubled.begin() + static_cast<std::ptrdiff_t>(i), lines_[i]);
    put(path_, doubled);
    EXPECT_THAT(problem(), HasSubstr("is not in order")) << "entry " << i + 1 << " is doubled";
    if (i == 0) continue;
    auto moved = lines_;
    std::swap(moved[i - 1], moved[i]);
    put(path_, moved);
    EXPECT_THAT(problem(), testing::AnyOf(HasSubstr("missing"), HasSubstr("is not in order")));
  }
}

TEST_F(Verify, EntriesThatWereOnDiskCannotGoFromTheEnd) {
  put(path_, {lines_[0], lines_[1]});
  EXPECT_THAT(problem(), HasSubstr("entries 3 to 5 are missing at its end"));
  ASSERT_TRUE(io::remove_tree(path_));
  EXPECT_THAT(problem(), HasSubstr("entries 1 to 5 are missing at its end"));
}

// Who may write to the folder may write a whole chain anew, head included: what was noted elsewhere
// tells.
TEST_F(Verify, AMarkTellsAChainThatWasWrittenAnew) {
  const AuditMark mark = verified().last;
  EXPECT_EQ(problem(mark), "");
  ASSERT_TRUE(io::remove_tree(folder_));
  AuditLog log = open();
  fill(log, 2, 6);
  EXPECT_EQ(problem(), "");
  EXPECT_THAT(problem(mark), HasSubstr("entry 5 does not have the expected digest"));
  EXPECT_THAT(problem({99, mark.digest}), HasSubstr("entry 99 (from --mark) is missing"));
}

TEST_F(Verify, AnEntryThatWasNotFinishedIsNoTampering) {
  const std::string text = *io::read_file(path_);
  const std::size_t last = text.size() - lines_.back().size() - 1;
  ASSERT_TRUE(io::remove_tree(audit_head_path(folder_)));  // written before the last entry was
  for (std::size_t size = last + 1; size < text.size(); size += 7) {
    ASSERT_TRUE(io::write_file_atomically(path_, text.substr(0, size), 0600, false));
    const AuditVerified found = verified();
    EXPECT_EQ(found.problem, "");
    EXPECT_EQ(found.entries, 4u);
    ASSERT_EQ(found.notes.size(), 1u);
    EXPECT_THAT(found.notes[0],
                HasSubstr("audit-00000001.jsonl:5: the last entry is not finished"));
    AuditLog log = open();
    ASSERT_EQ(log.findings().size(), 1u);
    EXPECT_THAT(log.findings()[0], HasSubstr("bytes were removed"));
    ASSERT_TRUE(log.write(kThen));
    EXPECT_EQ(problem(), "");
    EXPECT_EQ(audit_entry(lines_of(path_).back())->what, "fix the log");
  }
}

TEST_F(Verify, ALauncherGoesOnBehindDamageAndItStaysFound) {
  auto changed = lines_;
  changed[4][20] ^= 1;
  put(path_, changed);
  {
    AuditLog log = open();
    ASSERT_FALSE(log.findings().empty());
    EXPECT_THAT(log.findings()[0], HasSubstr("changed or damaged"));
    log.add(entry_of("ann", "cancel job", "job 6"));
    ASSERT_TRUE(log.write(kThen));
    sync(log);
  }
  EXPECT_THAT(problem(), HasSubstr("audit-00000001.jsonl:5: this entry was changed"));
  put(path_, {lines_[0], lines_[1], lines_[2]});
  EXPECT_THAT(problem(), HasSubstr("are missing before this one"));
}

TEST_F(Verify, WhileItIsWrittenToOnlyWhatItsWriterKnowsCounts) {
  AuditLog log = open();
  const AuditMark newest = log.written();
  fill(log, 6, 9);
  const auto found = verify_audit(folder_, newest, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->problem, "");
  EXPECT_EQ(found->last, newest);
}

class Rotation : public AuditFiles {
 protected:
  static constexpr AuditLimits kSmall{kibibytes(2), 4};
};

TEST_F(Rotation, IsBoundedAndTheChainKnowsItsNewStart) {
  AuditLog log = open(kSmall);
  for (int i = 0; i < 40; ++i) {
    fill(log, 10 * i, 10 * i + 9);
    EXPECT_LE(paths().size(), 5u) << "four, and one that is about to go";
    ASSERT_EQ(problem(), "") << "after " << i;
  }
  EXPECT_GT(verified().first, 1u);
  const std::string oldest = paths().front();
  const auto before = verified();
  ASSERT_TRUE(io::remove_tree(oldest));
  EXPECT_THAT(problem(),
              HasSubstr("are missing before this entry, and lockstepd did not remove them"));
  EXPECT_GT(before.entries, 10u);
}

TEST_F(Rotation, GoesOnAfterARestartAtAnyPlace) {
  for (int i = 0; i < 60; ++i) {
    AuditLog log = open(kSmall);
    EXPECT_THAT(log.findings(), IsEmpty());
    fill(log, i, i);
    ASSERT_EQ(problem(), "") << "after " << i;
  }
  EXPECT_LE(paths().size(), 5u);
}

TEST_F(Rotation, AMissingFileInTheMiddleIsFound) {
  AuditLog log = open({kibibytes(2), 64});
  fill(log, 1, 40);
  ASSERT_GT(paths().size(), 3u);
  ASSERT_TRUE(io::remove_tree(paths()[1]));
  EXPECT_THAT(problem(), HasSubstr("audit-00000003.jsonl:1: entries"));
}

}  // namespace
}  // namespace lockstep::launcher
