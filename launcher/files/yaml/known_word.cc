#include "launcher/files/yaml/known_word.h"

#include <fmt/format.h>

#include <cctype>
#include <vector>

#include "common/base/nearest.h"
#include "launcher/files/yaml/keys.h"
#include "launcher/files/yaml/shapes.h"

namespace lockstep::spec {

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string listed(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text.append(i == 0 ? "" : i + 1 == words.size() ? " or " : ", ").append(words[i]);
  return text;
}

std::string expected(std::string_view choices, std::string_view near) {
  return fmt::format("it must be {}{}", choices,
                     near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
}

Result<std::string> known_word(const Source& source, const YamlNode& node,
                               std::string_view words_path, std::string_view path) {
  if (node.kind != YamlNode::Kind::scalar)
    return source.error(node.place,
                        fmt::format("'{}' must be a string, not {}", path, describe(node.kind)));
  const std::string value = lower_case(node.text);
  std::vector<std::string_view> words, choices;
  for (const auto& known : known_words()) {
    if (known.path != words_path) continue;
    if (known.word == value && !known.supported) {
      Error refused = not_yet(source, node.place, fmt::format("{} '{}'", path, value));
      if (!known.instead.empty()) refused.message.append("; ").append(known.instead);
      return refused;
    }
    if (known.word == value) return value;
    words.push_back(known.word);
    if (known.supported) choices.push_back(known.word);
  }
  // Takes our own name for it, too, which `run --distribution` accepts and `job show` prints.
  if (path == "distribution.type" && value == "none")
    return source.error(
        node.place,
        "'distribution.type': Azure has no type 'none'; leave 'distribution' out for one "
        "plain rank on each node (for more ranks: `lockstep run -n`)");
  return source.error(node.place, fmt::format("'{}': unknown word '{}'; {}", path, node.text,
                                              expected(listed(choices), nearest(value, words))));
}

}  // namespace lockstep::spec
