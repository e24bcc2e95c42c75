// What requests about users, keys, roles and projects come to, and how keys/authorized_users of
// earlier landings becomes users.

#include "launcher/core/access/user_changes.h"

#include <gtest/gtest.h>

#include "launcher/core/access/authority.h"

namespace lockstep::launcher {
namespace {

const PublicKey kA(std::string(40, 'a')), kB(std::string(40, 'b')), kC(std::string(40, 'c'));

void take(Principals& principals, const std::vector<PrincipalFact>& facts) {
  for (const PrincipalFact& fact : facts)
    std::visit([&](const auto& body) { principals.apply({}, body); }, fact);
}

// Applies it, and checks that asking again changes nothing and answers the same.
template <typename Ask>
std::string done(Principals& principals, const Ask& ask) {
  const auto change = change_of(principals, ask, "root");
  if (!change) return "refused: " + change.error().message;
  take(principals, change->facts);
  const auto again = change_of(principals, ask, "root");
  if (!again) return "refused when asked again: " + again.error().message;
  EXPECT_TRUE(again->facts.empty());
  EXPECT_EQ(again->message, change->message);
  return change->message;
}

Principals with_admin() {
  Principals principals;
  take(principals, adopt(principals, {}, {"root", {{"root", kA}}}).facts);
  return principals;
}

TEST(UserChanges, AUserIsAddedWithRoleAccountAndKey) {
  auto now = with_admin();
  EXPECT_EQ(done(now, CreateProject{"vision"}), "the project vision is ready for use");
  EXPECT_EQ(done(now, AddUser{"ann", "ann1", kB, {Role::submitter, "vision"}}),
            "user ann is submitter in vision, account ann1");
  const User& ann = *now.user_with_key(kB);
  EXPECT_EQ(ann.name, "ann");
  EXPECT_EQ(ann.account, "ann1");
  EXPECT_TRUE(ann.has(Role::submitter, "vision"));
  EXPECT_FALSE(ann.has(Role::submitter, "default"));
}

TEST(UserChanges, WhatCannotBeIsRefusedWithWhatToDo) {
  auto now = with_admin();
  EXPECT_NE(done(now, AddUser{"ann", "", {}, {Role::submitter, "vision"}})
                .find("refused: there is no project 'vision'"),
            std::string::npos);
  EXPECT_NE(done(now, AddUser{"ann", "", {}, {Role::admin, "default"}}).find("leave --project out"),
            std::string::npos);
  EXPECT_NE(done(now, AddUser{"-x", "", {}, {Role::admin, ""}}).find("not a user name"),
            std::string::npos);
  EXPECT_NE(done(now, AddUser{"ann", "", kA, {Role::admin, ""}}).find("belongs to user 'root'"),
            std::string::npos);
  EXPECT_NE(done(now, ChangeRole{"bob", {Role::admin, ""}, false}).find("no user 'bob'"),
            std::string::npos);
  EXPECT_NE(done(now, RemoveProject{"default"}).find("cannot be removed"), std::string::npos);
}

TEST(UserChanges, WhatBecameOfAKeyIsKnown) {
  auto now = with_admin();
  done(now, AddUser{"ann", "", kB, {Role::submitter, "default"}});
  EXPECT_EQ(now.ended(kB), nullptr);
  now.apply(Instant{5'000'000'000}, UserKeyRevoked{kB, true, "root"});
  ASSERT_NE(now.ended(kB), nullptr);
  EXPECT_EQ(*now.ended(kB),
            (KeyStanding{KeyStanding::Kind::revoked, "ann", Instant{5'000'000'000}, "root"}));
  EXPECT_TRUE(now.was_revoked(kB));
  done(now, AddKey{"ann", kC, {}});
  now.apply(Instant{6'000'000'000}, UserRemoved{"ann", "bob"});
  EXPECT_EQ(now.ended(kC)->kind, KeyStanding::Kind::user_removed);
  EXPECT_EQ(now.ended(kC)->by, "bob");
}

TEST(UserChanges, AKeyWhoseLineIsGoneMayComeBack) {
  auto now = with_admin();
  const KeysFile both{"root", {{"root", kA}, {"ann", kB}}}, one{"root", {{"root", kA}}};
  take(now, adopt(now, {}, both).facts);
  take(now, adopt(now, {}, one).facts);
  ASSERT_NE(now.ended(kB), nullptr);
  EXPECT_EQ(now.ended(kB)->kind, KeyStanding::Kind::line_removed);
  EXPECT_EQ(now.ended(kB)->user, "ann");
  EXPECT_FALSE(now.was_revoked(kB));
  take(now, adopt(now, {}, both).facts);
  EXPECT_EQ(now.ended(kB), nullptr);
}

TEST(UserChanges, TheLastAdminStays) {
  auto now = with_admin();
  for (const std::string& said :
       {done(now, RemoveUser{"root"}), done(now, ChangeRole{"root", {Role::admin, ""}, true}),
        done(now, RevokeKey{kA})})
    EXPECT_NE(said.find("refused: 'root' is the last admin"), std::string::npos) << said;
  // One without a key is none.
  done(now, AddUser{"ann", "", {}, {Role::admin, ""}});
  EXPECT_NE(done(now, RemoveUser{"root"}).find("refused"), std::string::npos);
  done(now, AddKey{"ann", kB, {}});
  EXPECT_EQ(done(now, RemoveUser{"root"}), "user root is removed, its keys are revoked");
}

TEST(UserChanges, ARevokedKeyAndARemovedIdentityNeverComeBack) {
  auto now = with_admin();
  done(now, AddUser{"ann", "", kB, {Role::submitter, "default"}});
  done(now, RevokeKey{kB});
  EXPECT_EQ(now.user_with_key(kB), nullptr);
  EXPECT_NE(done(now, AddKey{"ann", kB, {}}).find("was revoked"), std::string::npos);
  EXPECT_NE(done(now, AddKey{"root", kB, {}}).find("was revoked"), std::string::npos);
  done(now, AddKey{"ann", kC, {}});
  done(now, RemoveUser{"ann"});
  EXPECT_EQ(now.user_with_key(kC), nullptr);
  EXPECT_EQ(
      done(now, AddUser{"ann", "", {}, {Role::viewer, "default"}}),
      "user ann~2 is viewer in default, account ann; a user ann was removed before, and keeps "
      "its jobs and names; give it a key with `lockstep user key add ann~2 KEY`");
  EXPECT_EQ(now.user("ann"), nullptr) << "what ann owned is not ann~2's";
  EXPECT_EQ(current_user_name(now, "ann"), "ann~2");
  EXPECT_EQ(current_user_name(now, "root"), "root");
  EXPECT_EQ(current_user_name(now, "nobody"), "nobody");
  done(now, RemoveUser{"ann~2"});
  EXPECT_EQ(current_user_name(now, "ann"), "ann");
  EXPECT_NE(done(now, AddUser{"ann", "", {}, {Role::viewer, "default"}}).find("user ann~3 is"),
            std::string::npos);
  EXPECT_NE(done(now, AddUser{"ann~3", "", {}, {Role::viewer, "default"}}).find("not a user name"),
            std::string::npos);
  EXPECT_NE(done(now, AddKey{"root", kC, {}}).find("was revoked"), std::string::npos);
}

TEST(UserChanges, ARotatedKeyIsReplacedInOneStep) {
  auto now = with_admin();
  const auto change = change_of(now, AddKey{"root", kB, kA}, "root");
  ASSERT_TRUE(change) << change.error().message;
  ASSERT_EQ(change->facts.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<UserKeyAdded>(change->facts[0]));  // never without one
  done(now, AddKey{"root", kB, kA});
  EXPECT_EQ(now.user_with_key(kA), nullptr);
  EXPECT_NE(done(now, AddKey{"root", kC, kA}).find("has the key"), std::string::npos);
}

TEST(UserChanges, RolesOfAProjectGoWithIt) {
  auto now = with_admin();
  done(now, CreateProject{"vision"});
  done(now, AddUser{"ann", "", kB, {Role::submitter, "vision"}});
  take(now, change_of(now, RemoveProject{"vision"}, "root")->facts);
  EXPECT_FALSE(may(now, UserCaller{"ann"}, Permission::submit, {"ann", "vision"}).allowed);
  EXPECT_TRUE(now.user("ann")->grants.empty());
}

TEST(AdoptedKeys, TheOwnerAndRootBecomeAdminsAndOthersSubmitters) {
  Principals now;
  const KeysFile file{"svc", {{"svc", kA}, {"root", kB}, {"ann", kC}}};
  take(now, adopt(now, {}, file).facts);
  EXPECT_TRUE(now.user("svc")->has(Role::admin));
  EXPECT_TRUE(now.user("root")->has(Role::admin));
  EXPECT_TRUE(now.user("ann")->has(Role::submitter, "default"));
  EXPECT_FALSE(now.user("ann")->has(Role::admin));
  EXPECT_TRUE(adopt(now, {}, file).facts.empty());
}

TEST(AdoptedKeys, ALineThatGoesEndsItsKeyAndOneThatComesBackCounts) {
  Principals now;
  take(now, adopt(now, {}, {"svc", {{"svc", kA}, {"ann", kB}}}).facts);
  take(now, adopt(now, {}, {"svc", {{"svc", kA}}}).facts);
  EXPECT_EQ(now.user_with_key(kB), nullptr);
  take(now, adopt(now, {}, {"svc", {{"svc", kA}, {"ann", kB}}}).facts);
  EXPECT_EQ(now.user_with_key(kB)->name, "ann");
}

TEST(AdoptedKeys, KeysThatWereAddedByCommandDoNotDependOnTheFile) {
  auto now = with_admin();
  done(now, AddUser{"ann", "", kB, {Role::submitter, "default"}});
  take(now, adopt(now, {}, {"root", {{"root", kA}}}).facts);
  EXPECT_NE(now.user_with_key(kB), nullptr);
}

TEST(AdoptedKeys, TheFileCannotBringBackWhatWasRevokedNorChangeARole) {
  auto now = with_admin();
  const KeysFile file{"root", {{"root", kA}, {"ann", kB}}};
  take(now, adopt(now, {}, file).facts);
  done(now, RevokeKey{kB});
  done(now, ChangeRole{"ann", {Role::submitter, "default"}, true});
  const auto again = adopt(now, {}, file);
  EXPECT_TRUE(again.facts.empty());
  ASSERT_EQ(again.skipped.size(), 1u);
  EXPECT_NE(again.skipped[0].find("was revoked"), std::string::npos);
  EXPECT_TRUE(now.user("ann")->grants.empty());
}

TEST(AdoptedKeys, AKeyUnderTwoNamesBelongsToTheFirst) {
  Principals now;
  const auto adopted = adopt(now, {}, {"root", {{"ann", kB}, {"bob", kB}, {"a b", kC}}});
  take(now, adopted.facts);
  EXPECT_EQ(now.user_with_key(kB)->name, "ann");
  EXPECT_EQ(adopted.skipped.size(), 2u);
  EXPECT_EQ(now.user("bob"), nullptr);
}

}  // namespace
}  // namespace lockstep::launcher
