// What every landing so far wrote is read by this one: see README.md beside.

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/wire/messages/control.h"
#include "launcher/core/core.h"
#include "launcher/core/invariants.h"
#include "launcher/sqlite/database.h"
#include "launcher/state/compact.h"
#include "launcher/store/journal.h"

namespace lockstep::launcher {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> landings() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(LOCKSTEP_SOURCE) / "tests/data"))
    if (entry.is_directory()) names.push_back(entry.path().filename());
  return names;
}

// Every line of `said`, in order: a later version may have more to say.
bool holds(const std::string& text, const std::string& said) {
  std::istringstream all(text), wanted(said);
  std::string line, want;
  while (std::getline(wanted, want)) {
    do {
      if (!std::getline(all, line)) return false;
    } while (line != want);
  }
  return true;
}

// Those landings filled a text in where only a few words are valid. A request with that one was
// always refused.
std::string without_invalid_words(const std::string& said) {
  std::istringstream all(said);
  std::string line, left;
  while (std::getline(all, line))
    if (line.find("tunnel: \"text\\377_") == line.npos) left += line + "\n";
  return left;
}

class Landing : public ::testing::TestWithParam<std::string> {
 protected:
  Landing() {
    char name[] = "/tmp/lockstep-data-XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~Landing() override { fs::remove_all(directory_); }
  fs::path data() const { return fs::path(LOCKSTEP_SOURCE) / "tests/data" / GetParam(); }
  std::string journal_file() {
    const std::string path = directory_ / "journal.db";
    auto db = Database::open(path);
    EXPECT_TRUE(db);
    const auto loaded = db->execute(text_of(data() / "journal.sql").c_str());
    EXPECT_TRUE(loaded) << loaded.error().message;
    return path;
  }
  std::string decoded_by_protoc(const std::string& bytes) const {
    const fs::path in = directory_ / "in", out = directory_ / "out";
    std::ofstream(in, std::ios::binary) << bytes;
    const std::string command =
        std::string("cd " LOCKSTEP_SOURCE " && " LOCKSTEP_PROTOC
                    " --decode=lockstep.pb.Envelope proto/control.proto <") +
        in.string() + " >" + out.string();
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return text_of(out);
  }
  fs::path directory_;

  // Is it a message of this protocol? Then nothing of it may be lost.
  template <typename Body>
  bool survives(const std::string& bytes, const std::string& said) {
    const auto envelope = wire::decode_envelope<Body>(bytes);
    if (!envelope) return false;
    const std::string again = wire::encode(*envelope);
    EXPECT_TRUE(wire::decode_envelope<Body>(again).value() == *envelope);
    EXPECT_TRUE(holds(decoded_by_protoc(again), without_invalid_words(said)))
        << "something of it is lost:\n"
        << said;
    return true;
  }
};

std::string jobs_of(const Core& core) {
  std::ostringstream jobs;
  for (const JobView& view : core.job_views())
    jobs << view.spec.name << " " << to_string(view.status) << " " << view.attempts.size() << "\n";
  return jobs.str();
}

TEST_P(Landing, its_journal_replays_to_the_same_jobs) {
  auto journal = Journal::open(journal_file());
  ASSERT_TRUE(journal) << journal.error().message;
  Core core{CoreConfig{}};
  std::vector<StampedFact> facts;
  const auto replayed = journal->replay([&](const StampedFact& fact) {
    core.replay(fact);
    facts.push_back(fact);
  });
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_GT(facts.size(), 30u);
  EXPECT_THAT(check_invariants(core.state()), ::testing::IsEmpty());
  EXPECT_EQ(jobs_of(core), text_of(data() / "jobs.txt"));
  Core compacted{CoreConfig{}};
  for (const StampedFact& fact : compact(facts)) compacted.replay(fact);
  EXPECT_TRUE(compacted.state() == core.state());
  EXPECT_TRUE(journal->append({{{1}, NodeDrainChanged{NodeId(1), true, "goes on"}}}));
}

TEST_P(Landing, its_envelopes_decode_to_what_they_said) {
  std::istringstream text(text_of(data() / "envelopes.txt"));
  std::string line;
  int count = 0;
  std::vector<std::pair<std::string, std::string>> envelopes;  // hex, text
  while (std::getline(text, line)) {
    if (line.rfind("== ", 0) == 0)
      envelopes.emplace_back(line.substr(3), "");
    else
      envelopes.back().second += line + "\n";
  }
  for (const auto& [hex, said] : envelopes) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
      bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    EXPECT_EQ(decoded_by_protoc(bytes), said);
    const int protocols = survives<AgentMessage>(bytes, said) + survives<AgentReply>(bytes, said) +
                          survives<ClientRequest>(bytes, said) +
                          survives<ClientReply>(bytes, said) + survives<JoinMessage>(bytes, said) +
                          survives<JoinReply>(bytes, said);
    const bool is_refusal = said.find("\nrefused ") != std::string::npos;
    EXPECT_EQ(protocols, is_refusal ? 2 : 1) << said;
    ++count;
  }
  EXPECT_GT(count, 30);
}

INSTANTIATE_TEST_SUITE_P(All, Landing, ::testing::ValuesIn(landings()), [](const auto& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace lockstep::launcher
