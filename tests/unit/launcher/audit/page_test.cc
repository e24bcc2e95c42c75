// What is asked of the log: pages from the newest on, each oldest first, across files.

#include "launcher/audit/page.h"

#include "tests/unit/launcher/audit/audit_files.h"

namespace lockstep::launcher {
namespace {

class Pages : public AuditFiles {
 protected:
  // Every page of it, oldest first.
  std::vector<std::string> all(QueryAudit query, int* pages = nullptr) {
    std::vector<std::string> found;
    for (int i = 0; i < 1'000; ++i) {
      const auto page = audit_page(folder_, query);
      EXPECT_TRUE(page);
      std::vector<std::string> objects;
      for (const auto& entry : page->entries) objects.push_back(entry.object);
      found.insert(found.begin(), objects.begin(), objects.end());
      if (pages != nullptr) *pages = i + 1;
      if (page->before == 0) return found;
      query.before = page->before;
    }
    ADD_FAILURE() << "the pages have no end";
    return found;
  }
  static std::vector<std::string> numbered(int first, int last) {
    std::vector<std::string> names;
    for (int i = first; i <= last; ++i) names.push_back("job " + std::to_string(i));
    return names;
  }
};

TEST_F(Pages, HaveEveryEntryOnceAcrossFiles) {
  AuditLog log = open({kibibytes(2), 64});
  fill(log, 1, 100);
  ASSERT_GT(paths().size(), 10u);
  int pages = 0;
  EXPECT_EQ(all({}, &pages), numbered(1, 100));
  EXPECT_GT(pages, 3) << "one answer reads a bounded part";
  QueryAudit few;
  few.limit = 3;
  EXPECT_EQ(all(few), numbered(1, 100));
  const auto newest = audit_page(folder_, few);
  ASSERT_EQ(newest->entries.size(), 3u);
  EXPECT_EQ(newest->entries.back().object, "job 100") << "the newest is last";
}

TEST_F(Pages, AreOfAUserOrANodeAndWhatWasDoneToThem) {
  AuditLog log = open();
  log.add(entry_of("ann", "drain node", "node n1"));
  log.add(entry_of("node n1", "join", "node n1"));
  log.add(entry_of("root", "give role", "user ann"));
  log.add(entry_of("bob", "drain node", "node n11"));
  ASSERT_TRUE(log.write(kThen));
  QueryAudit of_ann, of_n1, of_both;
  of_ann.user = of_both.user = "ann";
  of_n1.node = of_both.node = "n1";
  EXPECT_EQ(all(of_ann), (std::vector<std::string>{"node n1", "user ann"}));
  EXPECT_EQ(all(of_n1), (std::vector<std::string>{"node n1", "node n1"}));
  EXPECT_EQ(all(of_both), (std::vector<std::string>{"node n1"}));
}

TEST_F(Pages, OfANameThatWasAddedAgainAreOfAllOfThem) {
  AuditLog log = open();
  log.add(entry_of("ann", "cancel job", "job a"));
  log.add(entry_of("root", "remove user", "user ann"));
  log.add(entry_of("ann~2 (attempt b.1)", "submit job", "job b"));
  log.add(entry_of("root", "give role", "user ann~2"));
  log.add(entry_of("anna", "cancel job", "job c"));
  log.add(entry_of("ann~x", "cancel job", "job d"));
  ASSERT_TRUE(log.write(kThen));
  QueryAudit query;
  query.user = "ann";
  EXPECT_EQ(all(query), (std::vector<std::string>{"job a", "user ann", "job b", "user ann~2"}));
  query.user = "ann~2";
  EXPECT_EQ(all(query), (std::vector<std::string>{"job b", "user ann~2"}));
  EXPECT_EQ(user_in(entry_of("ann~2 (attempt b.1)", "submit job", "job b"), "ann"), "ann~2");
  EXPECT_EQ(user_in(entry_of("root", "remove user", "user ann"), "ann"), "ann");
  EXPECT_EQ(user_in(entry_of("bob", "cancel job", "job a"), "ann"), "");
}

TEST_F(Pages, AreOfAVerbAnObjectOrAProject) {
  AuditLog log = open();
  const auto add = [&log](const std::string& what, const std::string& object,
                          const std::string& project) {
    AuditEntry entry = entry_of("ann", what, object);
    entry.project = project;
    log.add(entry);
  };
  add("cancel job", "job train", "vision");
  add("delete jobs", "job a, job train", "speech");
  add("create data", "data faces:3", "vision");
  add("create project", "project vision", "");
  add("cancel job", "job trainer", "");
  ASSERT_TRUE(log.write(kThen));
  const auto of = [this](const std::string& verb, const std::string& object,
                         const std::string& project) {
    QueryAudit query;
    query.verb = verb;
    query.object = object;
    query.project = project;
    return all(query);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(of("cancel job", "", ""), (Names{"job train", "job trainer"}));
  EXPECT_EQ(of("job cancel", "", ""), (Names{"job train", "job trainer"}));
  EXPECT_EQ(of("create", "", ""), (Names{"data faces:3", "project vision"}));
  EXPECT_EQ(of("canc", "", ""), Names{});
  EXPECT_EQ(of("", "train", ""), (Names{"job train", "job a, job train"}));
  EXPECT_EQ(of("", "job train", ""), (Names{"job train", "job a, job train"}));
  EXPECT_EQ(of("", "faces", ""), (Names{"data faces:3"}));
  EXPECT_EQ(of("", "data faces:3", ""), (Names{"data faces:3"}));
  EXPECT_EQ(of("", "", "vision"), (Names{"job train", "data faces:3", "project vision"}));
  EXPECT_EQ(of("cancel", "train", "vision"), (Names{"job train"}));
  const auto whole = audit_page(folder_, {});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->entries.front().project, "vision");
  EXPECT_EQ(whole->entries.back().project, "");
}

TEST_F(Pages, EndAtATime) {
  AuditLog log = open({kibibytes(1), 64});
  for (int i = 1; i <= 50; ++i) {
    AuditEntry entry = entry_of("ann", "cancel job", "job " + std::to_string(i));
    entry.at = kThen + seconds(i);
    log.add(entry);
  }
  ASSERT_TRUE(log.write(kThen));
  QueryAudit query;
  query.since = kThen + seconds(48);
  int pages = 0;
  EXPECT_EQ(all(query, &pages), numbered(48, 50));
  EXPECT_EQ(pages, 1) << "what is older is not looked for";
}

TEST_F(Pages, LeaveOutWhatIsDamagedOrNotFinished) {
  AuditLog log = open();
  fill(log, 1, 5);
  auto lines = lines_of(paths().front());
  lines[2] = "{";
  put(paths().front(), lines);
  const auto found = all({});
  EXPECT_EQ(found, (std::vector<std::string>{"job 1", "job 2", "job 4", "job 5"}));
  EXPECT_TRUE(audit_page(dir_ / "nothing", {})->entries.empty());
}

}  // namespace
}  // namespace lockstep::launcher
