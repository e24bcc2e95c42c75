// docs/azure-keys.md has a line for each key of Azure's job files, made of the reader's tables.
// After a change of them: LOCKSTEP_WRITE_DOCS=1 build/tests/spec_test --gtest_filter='AzureKeys.*'

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "launcher/files/job_file.h"
#include "launcher/files/yaml/key_notes.h"
#include "launcher/files/yaml/keys.h"

namespace lockstep::spec {
namespace {

struct Kind {
  std::string_view word, title;
  KeyTable (*keys)();
};
constexpr Kind kKinds[] = {{"command", "A command job", job_keys},
                           {"pipeline", "A pipeline", pipeline_keys},
                           {"step", "A step of a pipeline, and a component", step_keys},
                           {"component", "Inputs and outputs of a component", port_keys}};

struct Line {
  std::string kind, key;
};

std::vector<Line> azure_keys() {
  std::ifstream file(LOCKSTEP_SOURCE "/tests/unit/launcher/files/azure_keys.txt");
  std::vector<Line> lines;
  for (std::string text; std::getline(file, text);) {
    const auto blank = text.find(' ');
    if (!text.starts_with("#")) lines.push_back({text.substr(0, blank), text.substr(blank + 1)});
  }
  return lines;
}

// Settings have a reader of their own, which takes all keys.
bool is_setting(const std::string& key) { return key.starts_with("settings."); }

bool is_refused(const KnownKey& key) {
  return key.shape == Shape::not_yet || key.shape == Shape::of_pipeline ||
         key.shape == Shape::of_step || key.shape == Shape::of_job;
}

std::string row(const Kind& kind, const std::string& key) {
  const KnownKey* known = is_setting(key) ? nullptr : kind.keys().find(key);
  const bool refused = known != nullptr && is_refused(*known);
  const std::string note(note_of(key));
  // The notes on inputs of a job are about a job's, where these keys are refused.
  const bool is_of_port = key.starts_with("inputs.*") && !refused && kind.word != "command";
  const std::string words = note.empty() || is_of_port ? "as on Azure" : note;
  if (known != nullptr && known->shape == Shape::unused)
    return fmt::format("| `{}` | without effect; a line says so | {} |\n", key, note);
  if (!refused) return fmt::format("| `{}` | yes | {} |\n", key, words);
  return fmt::format("| `{}` | refused | {} |\n", key, note.empty() ? "leave it out" : note);
}

std::string page() {
  std::string text =
      "# Keys of Azure's job files\n\n"
      "Each key of Azure ML's command and pipeline jobs is read with Azure's meaning, or with the "
      "meaning that\nthis page names, or it is refused with what to write instead. Made by "
      "`azure_keys_test` of the reader's\ntables; do not edit it. Keys that stand under `lockstep` "
      "are [ours](guide-jobs.md#job-files).\n";
  const std::vector<Line> keys = azure_keys();
  for (const Kind& kind : kKinds) {
    text += fmt::format(
        "\n## {}\n\n| key | read | meaning, or what to write instead |\n|---|---|---|\n",
        kind.title);
    for (const Line& line : keys)
      if (line.kind == kind.word) text += row(kind, line.key);
  }
  return text;
}

TEST(AzureKeys, EachIsKnownToTheReader) {
  std::set<std::string> seen;
  for (const Line& line : azure_keys()) {
    EXPECT_TRUE(seen.insert(line.kind + " " + line.key).second) << line.key << " stands twice";
    bool is_kind = false;
    for (const Kind& kind : kKinds) {
      if (line.kind != kind.word) continue;
      is_kind = true;
      EXPECT_TRUE(is_setting(line.key) || kind.keys().find(line.key) != nullptr)
          << line.kind << " " << line.key;
    }
    EXPECT_TRUE(is_kind) << line.kind;
  }
  EXPECT_GT(seen.size(), 100u);
}

TEST(AzureKeys, EachNoteIsAboutAKeyOfAReader) {
  for (const KeyNote& note : key_notes()) {
    bool is_known = is_setting(std::string(note.path));
    for (const Kind& kind : kKinds) is_known = is_known || kind.keys().find(note.path) != nullptr;
    EXPECT_TRUE(is_known) << note.path;
  }
}

TEST(AzureKeys, ThePageSaysWhatTheReaderDoes) {
  const std::string path = LOCKSTEP_SOURCE "/docs/azure-keys.md";
  if (std::getenv("LOCKSTEP_WRITE_DOCS") != nullptr) std::ofstream(path) << page();
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), page());
}

}  // namespace
}  // namespace lockstep::spec
