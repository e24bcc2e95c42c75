#include "envs/docker/dockerfile_variables.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "envs/docker/dockerfile_text.h"

namespace lockstep::envs {
namespace {

constexpr std::size_t kMaxTexts = 256;
constexpr int kMaxDepth = 8;
constexpr int kMaxSteps = 1'000;

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The position of the '}' that closes the '{' at the beginning of `text`.
std::size_t closing_brace(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{') ++depth;
    if (text[at] == '}' && --depth == 0) return at;
  }
  return text.npos;
}

}  // namespace

struct DockerfileVariables::Use {
  std::string_view name;
  std::string_view other;  // OTHER of ${NAME:-OTHER}
  std::size_t size = 0;    // the length without the '$'
};

void DockerfileVariables::add(std::string_view name, std::string_view value) {
  const auto names = expand(name);
  if (!names) {
    any_has_unknown_value_ = true;
    return;
  }
  for (const std::string& one : *names) values_[one].emplace_back(value);
}

std::optional<std::set<std::string>> DockerfileVariables::expand(std::string_view word) const {
  Texts all;
  int steps = kMaxSteps;
  if (any_has_unknown_value_ && word.find('$') != word.npos) return {};
  if (!expand(word, 0, steps, all)) return {};
  return all;
}

// Reads a use after a '$' in `text`. $1 and $@ have one character, whatever follows; their values
// are not known here.
std::optional<DockerfileVariables::Use> DockerfileVariables::use_at(std::string_view text) {
  const bool braced = text.starts_with('{');
  const std::string_view from = text.substr(braced ? 1 : 0);
  const auto size = static_cast<std::size_t>(
      std::find_if_not(from.begin(), from.end(), is_of_name) - from.begin());
  if (size == 0 || std::isdigit(static_cast<unsigned char>(from[0])) != 0) return {};
  const std::string_view name = from.substr(0, size);
  if (!braced) return Use{name, "", size};
  const auto close = closing_brace(text);
  if (close == text.npos) return {};
  std::string_view form = text.substr(size + 1, close - size - 1);
  if (form.starts_with(':')) form.remove_prefix(1);
  if (bare_word(form) != form) return {};  // a brace in quotes may not end the form
  if (form.empty()) return Use{name, "", close + 1};
  if (form[0] != '-' && form[0] != '+' && form[0] != '?') return {};
  return Use{name, form.substr(1), close + 1};
}

bool DockerfileVariables::values(const Use& use, int depth, int& steps, Texts& all) const {
  all = {""};
  Texts more;
  if (const auto known = values_.find(use.name); known != values_.end())
    for (const std::string& value : known->second) {
      if (!expand(value, depth + 1, steps, more)) return false;
      all.merge(more);
    }
  if (!expand(use.other, depth + 1, steps, more)) return false;
  all.merge(more);
  return all.size() <= kMaxTexts;
}

bool DockerfileVariables::expand(std::string_view text, int depth, int& steps, Texts& all) const {
  if (depth > kMaxDepth) return false;
  all = {""};
  while (!text.empty()) {
    if (--steps < 0) return false;
    const auto dollar = std::min(text.find('$'), text.size());
    Texts next{bare_word(text.substr(0, dollar))};
    text.remove_prefix(dollar);
    if (dollar == 0) {
      const auto use = use_at(text.substr(1));
      if (!use || !values(*use, depth, steps, next)) return false;
      text.remove_prefix(1 + use->size);
    }
    Texts joined;
    for (const std::string& begin : all)
      for (const std::string& end : next) joined.insert(begin + end);
    if (joined.size() > kMaxTexts) return false;
    all = std::move(joined);
  }
  return true;
}

}  // namespace lockstep::envs
