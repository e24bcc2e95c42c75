#include "launcher/spec/known_word.h"

#include <fmt/format.h>

#include <cctype>
#include <vector>

#include "common/base/nearest.h"
#include "launcher/spec/job_shapes.h"
#include "launcher/spec/keys.h"

namespace lockstep::spec {

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

Result<std::string> known_word(const Source& source, const YamlNode& node,
                               std::string_view words_path, std::string_view path) {
  if (node.kind != YamlNode::Kind::scalar)
    return source.error(node.place,
                        fmt::format("'{}' must be a string, not {}", path, describe(node.kind)));
  const std::string value = lower_case(node.text);
  std::vector<std::string_view> words;
  std::string choices;
  for (const auto& known : known_words()) {
    if (known.path != words_path) continue;
    if (known.word == value && !known.supported) {
      Error refused = not_yet(source, node.place, fmt::format("{} '{}'", path, value));
      if (!known.instead.empty()) refused.message.append("; ").append(known.instead);
      return refused;
    }
    if (known.word == value) return value;
    words.push_back(known.word);
    if (known.supported) choices += (choices.empty() ? "" : " or ") + std::string(known.word);
  }
  // Our own name for it, which `run --distribution` takes and `job show` prints.
  if (path == "distribution.type" && value == "none")
    return source.error(
        node.place,
        "'distribution.type': Azure has no type 'none'; leave 'distribution' out for one "
        "plain rank on each node (for more ranks: `lockstep run -n`)");
  const std::string near = nearest(value, words);
  return source.error(node.place, fmt::format("'{}': unknown word '{}'; {}", path, node.text,
                                              near.empty() ? "it must be " + choices
                                                           : "did you mean '" + near + "'?"));
}

}  // namespace lockstep::spec
