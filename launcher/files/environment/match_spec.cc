#include "launcher/files/environment/match_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>

#include "common/base/nearest.h"
#include "common/base/trimmed.h"
#include "common/grammar/conda_channel.h"
#include "launcher/files/environment/requirements.h"

namespace lockstep::spec {
namespace {

constexpr std::string_view kOperators = "=<>!~";
constexpr std::array<std::string_view, 10> kBracketKeys{
    "version", "build",  "build_number", "channel", "subdir",
    "md5",     "sha256", "license",      "fn",      "track_features"};
constexpr std::size_t kMaxVersionDigits = 18;  // digits of one number; solvers store it in 64 bits
constexpr std::size_t kMd5Digits = 32, kSha256Digits = 64;

Error wrong(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

bool consists_of(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || others.find(c) != others.npos;
  });
}

bool is_regular_expression(std::string_view text) {
  return text.size() > 2 && text.starts_with('^') && text.ends_with('$');
}

bool has_long_number(std::string_view version) {
  std::size_t digits = 0;
  for (char c : version) {
    digits = std::isdigit(static_cast<unsigned char>(c)) != 0 ? digits + 1 : 0;
    if (digits > kMaxVersionDigits) return true;
  }
  return false;
}

// Checks one clause of a version, such as ">=1.2" or "1.2.*". ',' and '|' join clauses.
Status check_clause(std::string_view clause) {
  if (clause.empty()) return wrong("a version is missing next to ',' or '|'");
  const auto end = std::min(clause.find_first_not_of(kOperators), clause.size());
  const std::string_view word = clause.substr(0, end);
  const std::string_view version = trimmed(clause.substr(end));
  constexpr std::array<std::string_view, 9> kWords{"", "=", "==", "!=", ">=", "<=", ">", "<", "~="};
  if (std::find(kWords.begin(), kWords.end(), word) == kWords.end()) {
    const std::string_view meant = word == "=>" ? ">=" : word == "=<" ? "<=" : "";
    return wrong(fmt::format(
        "'{}' is not an operator; {}", word,
        meant.empty() ? "the operators are = == != >= <= > < ~=" : fmt::format("write {}", meant)));
  }
  if (version.empty()) return wrong(fmt::format("no version follows '{}'", word));
  if (!consists_of(version, "_.+!*-"))
    return wrong(
        fmt::format("'{}' is not a version; write, for example, 1.26 or >=1.22,<2", version));
  if (has_long_number(version))
    return wrong(fmt::format("'{}' is not a valid version: each number may have at most {} digits",
                             version, kMaxVersionDigits));
  return {};
}

Status check_version(std::string_view version) {
  std::string flat;  // parentheses only group, so they are removed
  for (char c : version)
    if (c != '(' && c != ')') flat += c;
  for (std::string_view rest = flat;;) {
    const auto end = rest.find_first_of(",|");
    TRY(check_clause(trimmed(rest.substr(0, end))));
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 1);
  }
}

// The position where the version ends and the build begins: a blank or '=' after which nothing of a
// version follows.
std::optional<std::size_t> build_begins(std::string_view text) {
  for (std::size_t at = 1; at + 1 < text.size(); ++at)
    if ((text[at] == ' ' || text[at] == '=') &&
        std::string_view("=!|,<>~ ").find(text[at - 1]) == std::string_view::npos &&
        text.find_first_of("=,|<>~", at + 1) == std::string_view::npos)
      return at;
  return std::nullopt;
}

Status check_version_and_build(std::string_view text) {
  if (text.empty()) return {};
  const auto split = build_begins(text);
  TRY(check_version(trimmed(text.substr(0, split.value_or(text.size())))));
  if (!split) return {};
  const std::string_view build = trimmed(text.substr(*split + 1));
  if (is_regular_expression(build)) return {};
  if (build.empty() || !consists_of(build, "_.+*-!"))
    return wrong(fmt::format("'{}' is not a valid build; write NAME=VERSION=BUILD", build));
  return {};
}

Status check_digest(std::string_view key, std::string_view value, std::size_t digits) {
  if (value.size() == digits &&
      value.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos)
    return {};
  return wrong(fmt::format("'{}' is not a valid {}: exactly {} hexadecimal digits are expected",
                           value, key, digits));
}

Status check_bracket(std::string_view key, std::string_view value) {
  if (std::find(kBracketKeys.begin(), kBracketKeys.end(), key) == kBracketKeys.end()) {
    const std::string near = nearest(key, kBracketKeys);
    return wrong(fmt::format("'{}' is not a key of a match spec{}", key,
                             near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
  }
  if (value.empty()) return wrong(fmt::format("'{}' has no value", key));
  if (key == "subdir")
    return wrong(
        "'subdir' is not supported: each node installs the packages of its own platform; leave "
        "'subdir' out");
  if (key == "channel") return check_channel(value);
  if (key == "md5") return check_digest(key, value, kMd5Digits);
  if (key == "sha256") return check_digest(key, value, kSha256Digits);
  return key == "version" ? check_version(value) : Status();
}

// Checks the text between '[' and ']'.
Status check_brackets(std::string_view text) {
  while (!(text = trimmed(text)).empty()) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos)
      return wrong(fmt::format("'{}' is not of the form key=value", text));
    const std::string_view key = trimmed(text.substr(0, equals));
    text = trimmed(text.substr(equals + 1));
    const bool quoted = text.starts_with('"') || text.starts_with('\'');
    auto end = quoted ? text.find(text[0], 1) : text.find(',');
    if (quoted && end == std::string_view::npos) return wrong("a quote is never closed");
    end = std::min(end, text.size());
    TRY(check_bracket(key, trimmed(text.substr(quoted ? 1 : 0, quoted ? end - 1 : end))));
    text = trimmed(text.substr(std::min(text.size(), quoted ? end + 1 : end)));
    if (!text.empty() && text[0] != ',')
      return wrong(fmt::format("expected ',' or ']', found '{}'", text));
    if (!text.empty()) text.remove_prefix(1);
  }
  return {};
}

bool is_archive(std::string_view spec) {
  return spec.find("://") < spec.find("::") || spec.starts_with('/') || spec.starts_with('.') ||
         spec.starts_with('~') || spec.ends_with(".conda") || spec.ends_with(".tar.bz2");
}

// Checks a channel such as "conda-forge/osx-64".
Status check_channel_of(std::string_view channel) {
  if (channel.empty() || channel.find_first_of(" \t") != std::string_view::npos)
    return wrong("has no channel name before '::'; write CHANNEL::NAME");
  const std::string_view last = channel.substr(channel.rfind('/') + 1);
  if (last.starts_with("osx-") || last.starts_with("win-"))
    return wrong(fmt::format(
        "packages for platform '{}' do not run on Linux nodes; leave the platform out", last));
  return check_channel(channel);
}

Status check(std::string_view spec) {
  if (spec.empty()) return wrong("names no package");
  if (spec.starts_with('-'))
    return wrong(
        "is an option, but conda packages take no options; options of pip belong in the section "
        "'pip'");
  const bool has_channel = spec.find("::") != std::string_view::npos;
  if (!has_channel && is_archive(trimmed(spec.substr(0, spec.find('[')))))
    return wrong(
        "is the location of a package file, but a solver selects packages by name; write "
        "NAME=VERSION=BUILD, or put the package's address into a lock file that begins with "
        "@EXPLICIT");
  if (const auto open = spec.find('['); open != std::string_view::npos) {
    if (!spec.ends_with(']')) return wrong("has a '[' but does not end with ']'");
    TRY(check_brackets(spec.substr(open + 1, spec.size() - open - 2)));
    spec = trimmed(spec.substr(0, open));
  }
  if (const auto colons = spec.rfind("::"); colons != std::string_view::npos) {
    TRY(check_channel_of(spec.substr(0, colons)));
    spec.remove_prefix(colons + 2);
  }
  const auto end = std::min(spec.find_first_of(" \t=<>!~"), spec.size());
  const std::string_view name = spec.substr(0, end);
  if (name.empty()) return wrong("names no package");
  if (!consists_of(name, "_.-"))
    return wrong(fmt::format(
        "'{}' is not a valid package name; use letters, digits, '_', '-' and '.'", name));
  return check_version_and_build(trimmed(spec.substr(end)));
}

}  // namespace

Status check_match_spec(std::string_view spec) {
  TRY(check_no_secret(spec, kNoPasswordOfConda));
  TRY(check_no_query(spec));
  const Status good = check(trimmed(spec));
  if (good) return {};
  return wrong(fmt::format("'{}': {}", spec, good.error().message));
}

}  // namespace lockstep::spec
