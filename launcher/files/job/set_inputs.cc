#include "launcher/files/job/set_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "common/base/nearest.h"
#include "launcher/files/yaml/shapes.h"

namespace lockstep::spec {

namespace {

bool is_of_name(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Finds "inputs.lr" in "--lr ${{inputs.lr}}", but not in "inputs.lr_end".
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_of_name(text[at - 1])) && (end == text.size() || !is_of_name(text[end])))
      return true;
  }
  return false;
}

bool mentions(const YamlNode& node, std::string_view word) {
  const auto in_item = [&](const YamlNode& item) { return mentions(item, word); };
  const auto in_entry = [&](const YamlEntry& entry) { return mentions(entry.value, word); };
  return has_word(node.text, word) || std::any_of(node.items.begin(), node.items.end(), in_item) ||
         std::any_of(node.entries.begin(), node.entries.end(), in_entry);
}

bool is_read(const YamlNode& owner, const YamlNode* around, std::string_view key,
             const std::string& name) {
  for (const YamlEntry& entry : owner.entries)
    if (entry.key != "inputs" && (mentions(entry.value, "inputs." + name) ||
                                  mentions(entry.value, "AZURE_ML_INPUT_" + name)))
      return true;
  return around != nullptr && mentions(*around, fmt::format("jobs.{}.inputs.{}", key, name));
}

}  // namespace

void check_set_inputs(const Source& source, const YamlNode& owner, std::string_view shown,
                      const YamlNode* around, std::string_view key, Faults& faults) {
  const YamlEntry* inputs = owner.find("inputs");
  if (inputs == nullptr) return;
  std::vector<std::string_view> known;
  for (const YamlEntry& entry : inputs->value.entries)
    if (!entry.place.override_text || is_read(owner, around, key, entry.key))
      known.push_back(entry.key);
  for (const YamlEntry& entry : inputs->value.entries) {
    const bool is_known = std::find(known.begin(), known.end(), entry.key) != known.end();
    const std::string path = join("inputs", entry.key);
    if (is_known || !entry.place.override_text || faults.is_faulty(path)) continue;
    std::string message = fmt::format("{} has no input '{}'", shown, entry.key);
    if (const std::string near = nearest(entry.key, known); !near.empty())
      message += fmt::format("; did you mean '{}'?", near);
    else if (!known.empty())
      message += fmt::format("; it has {}", fmt::join(known, ", "));
    else
      message += fmt::format("; where it is to be read, write ${{{{inputs.{}}}}}", entry.key);
    faults.add(entry.place, source.error(entry.place, message));
    faults.mark_faulty(path);
  }
}

}  // namespace lockstep::spec
