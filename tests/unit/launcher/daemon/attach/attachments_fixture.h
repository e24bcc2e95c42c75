#pragma once
// The table of attachments over a core with a gang of two nodes that runs two ranks on each, and
// with fakes of all that it sends to.

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "launcher/daemon/attach/open_attachments.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {

inline AttachId attach_id(int number) {
  std::string text = std::to_string(number);
  return AttachId(std::string(kAttachIdBytes - text.size(), 'i') + text);
}

struct AttachmentsTest : ::testing::Test {
  struct Sent {
    std::string peer;
    AttachFrame frame;
  };
  struct Told {
    NodeId node;
    AttachFrame frame;
  };

  AttachmentsTest() {
    add("alice", Role::submitter);
    add("bob", Role::submitter);
    add("vic", Role::viewer);
    add("olga", Role::operator_, "");
    add("ada", Role::admin, "");
    job = submit(job_spec("gang", 2, 2));
    launcher.prepared(n1, attempt(job));
    launcher.prepared(n2, attempt(job));
    launcher.observe(n1, attempt(job), PartState::running);
    launcher.observe(n2, attempt(job), PartState::running);
  }

  void add(const std::string& name, Role role, const std::string& project = "default") {
    launcher.send(PrincipalInput{launcher.next_reply(), AddUser{name, "", {}, {role, project}}});
    launcher.expect_one<ReplyDone>();
    keys[key_of(name)] = UserCaller{name};
  }
  JobId submit(JobSpec spec, const std::string& user = "alice") {
    SubmitInput submit;
    submit.reply = launcher.next_reply();
    submit.submission = "submission-" + spec.name;
    spec.submitter = user;
    submit.spec = std::move(spec);
    submit.caller = UserCaller{user};
    launcher.send(submit);
    const JobId id = launcher.expect_one<ReplySubmitted>().job;
    launcher.drop_notices();
    return id;
  }
  static PublicKey key_of(const std::string& user) { return PublicKey("key of " + user); }
  static Attachments::Sender from(const std::string& user, const std::string& peer = "") {
    return {peer.empty() ? "client of " + user : peer, key_of(user), "10.0.0.9"};
  }

  AttachOpen opening(AttachOrder order = AttachProgram{}) const {
    AttachOpen open;
    open.job = job;
    open.order = std::move(order);
    return open;
  }
  AttachOpen of_rank(int rank) const {
    AttachOpen open = opening();
    open.rank = rank;
    return open;
  }
  void client(const std::string& user, const AttachId& id, AttachBody body) {
    table.from_client(from(user), {id, std::move(body)}, launcher.now);
  }
  void node(const FakeNode& node, const AttachId& id, AttachBody body) {
    table.from_node(node.id, agent_of(node), {id, std::move(body)}, launcher.now);
  }
  static std::string agent_of(const FakeNode& node) {
    return "agent of " + node.inventory.hostname;
  }
  // Opens it, and lets its node answer.
  void attach(const AttachId& id, int rank = 0) {
    client("alice", id, of_rank(rank));
    node(rank < 2 ? n1 : n2, id, AttachOpened{attempt(job), rank, rank / 2, "", 0});
    take();
  }
  // Forgets what was sent, told and recorded up to now.
  void take() {
    sent.clear();
    told.clear();
    audit.clear();
  }
  // The refusal with which the opening is answered; fails the test if there is none.
  AttachRefused refusal(const std::string& user, const AttachId& id, AttachOpen open) {
    take();
    client(user, id, std::move(open));
    EXPECT_TRUE(told.empty()) << "it went to a node";
    if (sent.size() != 1 || !std::holds_alternative<AttachRefused>(sent[0].frame.body)) {
      ADD_FAILURE() << "it was not refused";
      return {};
    }
    EXPECT_EQ(sent[0].peer, "client of " + user);
    EXPECT_EQ(sent[0].frame.attachment, id);
    return std::get<AttachRefused>(sent[0].frame.body);
  }

  Attachments::Ports ports() {
    Attachments::Ports ports;
    ports.core = [this]() -> const Core& { return *launcher.core; };
    ports.client_of = [this](const PublicKey& key) -> std::optional<Caller> {
      const auto found = keys.find(key);
      if (found == keys.end()) return std::nullopt;
      return found->second;
    };
    ports.send = [this](const std::string& peer, const AttachFrame& frame) {
      sent.push_back({peer, frame});
    };
    ports.tell_node = [this](NodeId node, AttachWanted wanted) {
      told.push_back({node, std::move(wanted.frame)});
    };
    ports.record = [this](AuditEntry entry) { audit.push_back(std::move(entry)); };
    ports.signaled = [this](RanksSignaledInput input) { signals.push_back(std::move(input)); };
    ports.why_not_recorded = [this] { return stuck; };
    ports.warn = [this](const std::string& line) { warnings.push_back(line); };
    return ports;
  }

  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  JobId job;
  std::map<PublicKey, Caller> keys;
  std::vector<Sent> sent;  // over the bulk socket
  std::vector<Told> told;  // over the control connections of nodes
  std::vector<AuditEntry> audit;
  std::vector<RanksSignaledInput> signals;
  std::vector<std::string> warnings;
  std::string stuck;
  Attachments table{ports()};
};

}  // namespace lockstep::launcher
