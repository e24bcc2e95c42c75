#pragma once
// An audit log in a temporary folder, and its files as lines that a test may change.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/io/file_system.h"
#include "launcher/audit/folder.h"
#include "launcher/audit/line.h"
#include "launcher/audit/log.h"
#include "launcher/audit/verify.h"
#include "tests/fakes/disk/faults.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {

inline constexpr Instant kThen{1'700'000'000'000'000'000};

inline AuditEntry entry_of(const std::string& who, const std::string& what,
                           const std::string& object, AuditOutcome outcome = AuditOutcome::done) {
  AuditEntry entry;
  entry.at = kThen;
  entry.who = who;
  entry.what = what;
  entry.object = object;
  entry.outcome = outcome;
  return entry;
}

class AuditFiles : public testing::Test {
 protected:
  AuditLog open(AuditLimits limits = {}) {
    auto log = AuditLog::open(folder_, limits, kThen);
    EXPECT_TRUE(log) << (log ? "" : log.error().message);
    return *std::move(log);
  }
  // Adds entries "job FIRST" to "job LAST", writes and syncs them.
  static void fill(AuditLog& log, int first, int last) {
    for (int i = first; i <= last; ++i) {
      log.add(entry_of("ann", "cancel job", "job " + std::to_string(i)));
      ASSERT_TRUE(log.write(kThen));
    }
    sync(log);
  }
  static void sync(AuditLog& log) {
    while (auto sync = log.take_sync()) ASSERT_TRUE(sync->run());
  }
  std::vector<std::string> paths() const {
    std::vector<std::string> found;
    const auto segments = audit_segments(folder_);
    for (const auto& segment : *segments) found.push_back(segment.path);
    return found;
  }
  static std::vector<std::string> lines_of(const std::string& path) {
    std::vector<std::string> lines;
    std::string text = *io::read_file(path);
    for (std::size_t at = 0; at < text.size();) {
      const auto end = text.find('\n', at);
      lines.push_back(text.substr(at, end - at));
      at = end == std::string::npos ? text.size() : end + 1;
    }
    return lines;
  }
  static void put(const std::string& path, const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    ASSERT_TRUE(io::write_file_atomically(path, text, 0600, false));
  }
  // The problem that verify_audit() finds; "" if the log is whole.
  std::string problem(const AuditMark& mark = {}) const {
    const auto found = verify_audit(folder_, {}, mark);
    return found ? found->problem : "cannot be read: " + found.error().message;
  }
  AuditVerified verified() const { return *verify_audit(folder_, {}, {}); }

  const test::TempDir dir_{test::quick_directory()};
  const std::string folder_ = dir_ / "audit";
};

}  // namespace lockstep::launcher
