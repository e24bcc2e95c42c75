#include "launcher/files/job/retry_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <vector>

#include "common/base/nearest.h"
#include "launcher/files/yaml/keys.h"
#include "launcher/files/yaml/known_word.h"

namespace lockstep::spec {

namespace {

constexpr std::string_view kPath = "lockstep.retry.on";

std::optional<int> exit_code_in(const std::string& text) {
  int code = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, code);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  return code;
}

// Adds an exit code; returns its fault, or "".
std::string add_code(const std::string& text, RetryPolicy& policy) {
  const auto code = exit_code_in(text);
  if (!code || *code < 1 || *code > 255)
    return fmt::format("'{}' is not an exit code of a failure; write a number from 1 to 255", text);
  auto& codes = policy.exit_codes;
  if (std::find(codes.begin(), codes.end(), *code) == codes.end()) codes.push_back(*code);
  return "";
}

std::string unknown_word(const std::string& text) {
  std::vector<std::string_view> words;
  std::string choices;
  for (const auto& known : known_words()) {
    if (known.path != kPath) continue;
    words.push_back(known.word);
    choices.append(choices.empty() ? "" : ", ").append(known.word);
  }
  return fmt::format("unknown word '{}'; {}", text,
                     expected("an exit code or one of " + choices, nearest(text, words)));
}

// Adds a word or a number; `alone`: the list has no other item.
std::string add_item(const std::string& text, bool alone, RetryPolicy& policy) {
  if (!text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) != 0 || text[0] == '-'))
    return add_code(text, policy);
  std::string word = text;
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (word == "never") return alone ? "" : "'never' cannot be combined with other words";
  const auto on = retry_on_from(word);
  if (!on) return unknown_word(text);
  if (std::find(policy.on.begin(), policy.on.end(), *on) == policy.on.end())
    policy.on.push_back(*on);
  return "";
}

class OnReader {
 public:
  OnReader(const Source& source, RetryPolicy& policy) : source_(source), policy_(policy) {}

  Status read(const YamlNode& node, bool alone) {
    switch (node.kind) {
      case YamlNode::Kind::scalar: return checked(node, add_item(node.text, alone, policy_));
      case YamlNode::Kind::mapping: return read_codes(node);
      case YamlNode::Kind::null:
      case YamlNode::Kind::sequence: break;
    }
    return wrong(node.place,
                 fmt::format("must be words and exit codes, not {}", describe(node.kind)));
  }

 private:
  Status read_codes(const YamlNode& mapping) {
    for (const YamlEntry& entry : mapping.entries) {
      if (entry.key != "exit_code")
        return wrong(entry.place,
                     fmt::format("unknown key '{}'; the only known key is exit_code", entry.key));
      const YamlNode& value = entry.value;
      if (value.kind == YamlNode::Kind::scalar) TRY(checked(value, add_code(value.text, policy_)));
      if (value.kind == YamlNode::Kind::mapping || value.kind == YamlNode::Kind::null)
        return wrong(entry.place,
                     fmt::format("exit_code must be a number or a list of them, not {}",
                                 describe(value.kind)));
      for (const YamlNode& item : value.items) TRY(checked(item, add_code(item.text, policy_)));
    }
    return {};
  }
  Status checked(const YamlNode& node, const std::string& what) const {
    return what.empty() ? Status{} : wrong(node.place, what);
  }
  Status wrong(const Place& place, const std::string& what) const {
    return source_.error(place, fmt::format("'{}': {}", kPath, what));
  }

  const Source& source_;
  RetryPolicy& policy_;
};

}  // namespace

Status read_retry_on(const Source& source, const YamlNode& node, RetryPolicy& policy) {
  policy.on.clear();
  policy.exit_codes.clear();
  OnReader reader(source, policy);
  if (node.kind != YamlNode::Kind::sequence) return reader.read(node, true);
  for (const YamlNode& item : node.items) TRY(reader.read(item, node.items.size() == 1));
  return {};
}

Status read_retry_on(const std::string& text, RetryPolicy& policy) {
  policy.on.clear();
  policy.exit_codes.clear();
  const bool alone = text.find(',') == std::string::npos;
  for (std::size_t from = 0; from <= text.size();) {
    const auto comma = std::min(text.find(',', from), text.size());
    const std::string what = add_item(text.substr(from, comma - from), alone, policy);
    if (!what.empty()) return make_error(ErrorCode::invalid_argument, what);
    from = comma + 1;
  }
  return {};
}

}  // namespace lockstep::spec
