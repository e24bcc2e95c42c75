#include "envs/docker/dockerfile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/image_name.h"

namespace lockstep::envs {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";
constexpr std::size_t kMaxHexId = 64;
constexpr std::size_t kMaxExpansions = 256;
constexpr int kMaxDepth = 8;

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(kBlanks);
  if (from == text.npos) return "";
  return text.substr(from, text.find_last_not_of(kBlanks) + 1 - from);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// Instructions, each in one line. `escape`: what continues a line; '\0': nothing does.
std::vector<std::string> instructions_of(std::string_view text, char escape) {
  std::vector<std::string> all;
  std::string rest;
  for (const std::string_view raw : lines_of(text)) {
    std::string_view line = trimmed(raw);
    const bool is_of_none = line.starts_with('#') || (line.empty() && !rest.empty());
    if (is_of_none) continue;  // also between the lines of one
    const bool goes_on = escape != '\0' && line.ends_with(escape);
    if (goes_on) line.remove_suffix(1);
    rest += line;
    if (goes_on || rest.empty()) continue;
    all.push_back(std::exchange(rest, {}));
  }
  if (!rest.empty()) all.push_back(std::move(rest));
  return all;
}

// Without quotes and escapes, whatever they are for.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : line + " ") {
    if (kBlanks.find(c) != kBlanks.npos) {
      if (!word.empty()) words.push_back(std::exchange(word, {}));
    } else if (std::string_view("\"'\\`").find(c) == std::string_view::npos) {
      word += c;
    }
  }
  return words;
}

bool is_hex(std::string_view text) {
  return !text.empty() && text.size() <= kMaxHexId &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// As podman calls them: "dir:tmp" is a folder of the node's.
bool is_transport(std::string_view image) {
  constexpr std::array<std::string_view, 10> kAll{
      "containers-storage", "dir",    "docker", "docker-archive", "docker-daemon", "oci",
      "oci-archive",        "ostree", "sif",    "tarball"};
  const auto colon = image.find(':');
  return colon != image.npos &&
         std::find(kAll.begin(), kAll.end(), image.substr(0, colon)) != kAll.end();
}

class Check {
 public:
  Check(std::string_view text, const BuildEngine& engine)
      : engine_(engine), has_heredocs_(text.find("<<") != text.npos) {}

  Status instruction(const std::string& line) {
    line_ = line;
    std::vector<std::string> words = words_of(line);
    while (!words.empty() && lower(words.front()) == "onbuild") words.erase(words.begin());
    if (words.empty()) return {};
    const std::string what = lower(words.front());
    if (what == "arg" || what == "env") values(words);
    if (what == "from") return from(words);
    for (const std::string& word : words) {
      if (what == "run") TRY(mount(word));
      if (what == "copy" || what == "add") TRY(source(word));
    }
    return {};
  }

 private:
  Error refused(std::string_view why) const {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("the Dockerfile's line '{:.200}' is refused: {}", line_, why));
  }

  // Both forms: "NAME=VALUE …" and ENV's "NAME VALUE".
  void values(const std::vector<std::string>& words) {
    for (std::size_t at = 1; at < words.size(); ++at)
      if (const auto equals = words[at].find('='); equals != std::string::npos)
        values_[words[at].substr(0, equals)].push_back(words[at].substr(equals + 1));
      else if (at == 1 && words.size() > 2)
        values_[words[1]].push_back(words[2]);
  }

  Status from(const std::vector<std::string>& words) {
    std::size_t at = 1;
    while (at < words.size() && words[at].starts_with("--")) ++at;
    const bool is_named = at + 3 == words.size() && lower(words[at + 1]) == "as";
    if (at + 1 != words.size() && !is_named) return {};  // a line of a text; engines refuse it
    TRY(image(words[at], false));
    ++stages_;
    if (is_named) names_.push_back(lower(words[at + 2]));
    return {};
  }

  Status source(const std::string& word) {
    constexpr std::string_view kFrom = "--from=";
    if (!word.starts_with(kFrom)) return {};
    if (engine_.is_podman && word.find('$') != word.npos)
      return refused("podman would put a variable's value into --from; write the value");
    return image(word.substr(kFrom.size()), true);
  }

  Status mount(const std::string& word) {
    constexpr std::string_view kMount = "--mount=";
    if (!word.starts_with(kMount)) return {};
    const std::string all = word.substr(kMount.size()) + ",";
    if (engine_.is_podman && all.find('$') != all.npos)
      return refused("podman would put a variable's value into --mount; write the value");
    for (std::size_t at = 0; at < all.size();) {
      const auto end = all.find(',', at);
      const std::string field = all.substr(at, end - at);
      at = end + 1;
      const auto equals = std::min(field.find('='), field.size());
      const std::string key = lower(field.substr(0, equals));
      const std::string value = field.substr(std::min(equals + 1, field.size()));
      if (key == "from") TRY(image(value, true));
      if (key == "type" && lower(value) == "cache") TRY(cache());
      if (key == "id" && engine_.is_podman && value.find("..") != value.npos)
        return refused("podman takes the id of a cache for a path; leave '..' out");
    }
    return {};
  }

  Status cache() const {
    if (!engine_.is_podman || !engine_.is_remote) return {};
    return refused(
        "the podman service of this node shares caches of builds among all users; leave "
        "--mount=type=cache out");
  }

  bool is_stage(const std::string& name, bool by_number) const {
    if (is_hex(name) && has_heredocs_) return false;  // which engines read differently
    if (std::find(names_.begin(), names_.end(), lower(name)) != names_.end()) return true;
    std::size_t number = 0;
    const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
    return by_number && failed == std::errc() && end == name.data() + name.size() &&
           number < stages_;
  }

  Status image(const std::string& name, bool by_number) {
    std::vector<std::string> all;
    if (!expand(name, 0, all))
      return refused(fmt::format("what image '{}' is cannot be told; write its name", name));
    for (const std::string& one : all)
      if (!is_stage(one, by_number)) TRY(check_name(one));
    return {};
  }

  Status check_name(const std::string& name) const {
    if (name.empty() || name == "scratch") return {};
    if (is_hex(name) || name.starts_with("sha256:"))
      return refused(
          fmt::format("'{}' may be an id, which only one engine knows; write the image's "
                      "name with its tag",
                      name));
    if (engine_.is_podman && is_transport(name))
      return refused(fmt::format("'{}' names files of the node's; write an image's name", name));
    if (is_lockstep_image(name))
      return refused(fmt::format("'{}' is an image of another job's", name));
    return {};
  }

  // All that a text with variables may become; false: more than can be told.
  bool expand(const std::string& text, int depth, std::vector<std::string>& all) const {
    const auto dollar = text.find('$');
    if (dollar == text.npos) {
      all.push_back(text);
      return all.size() <= kMaxExpansions;
    }
    if (depth > kMaxDepth) return false;
    const bool braced = text.compare(dollar + 1, 1, "{") == 0;
    const auto begin = dollar + 1 + (braced ? 1 : 0);
    auto end = begin;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
      ++end;
    std::vector<std::string> found{""};
    if (const auto known = values_.find(text.substr(begin, end - begin)); known != values_.end())
      found.insert(found.end(), known->second.begin(), known->second.end());
    if (braced) {
      const auto close = text.find('}', end);
      if (close == text.npos) return false;
      std::string rest = text.substr(end, close - end);
      if (rest.starts_with(':')) rest.erase(0, 1);
      if (!rest.empty() && rest[0] != '-' && rest[0] != '+' && rest[0] != '?') return false;
      if (!rest.empty()) found.push_back(rest.substr(1));
      end = close + 1;
    }
    for (const std::string& value : found)
      if (!expand(text.substr(0, dollar) + value + text.substr(end), depth + 1, all)) return false;
    return true;
  }

  const BuildEngine& engine_;
  const bool has_heredocs_;
  std::string line_;
  std::vector<std::string> names_;  // of the stages so far
  std::size_t stages_ = 0;
  std::map<std::string, std::vector<std::string>> values_;  // that variables were given so far
};

// Another frontend need not keep the name space of caches.
Status check_frontend(std::string_view text) {
  const auto refused = [](std::string_view line) {
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("the Dockerfile's line '{:.200}' is refused: the only frontends are docker's "
                    "own, `# syntax=docker/dockerfile:…`; or leave it out",
                    line));
  };
  for (const std::string_view raw : lines_of(text)) {
    const std::string_view line = trimmed(raw);
    if (line.empty()) continue;
    if (line.starts_with("{") || line.starts_with("#!")) return refused(line);
    if (!line.starts_with("#") && !line.starts_with("//")) return {};
    std::string said = lower(line);
    std::erase_if(said, [](char c) { return kBlanks.find(c) != kBlanks.npos; });
    const auto at = said.find_first_not_of("#/");
    constexpr std::string_view kSyntax = "syntax=";
    if (at == said.npos || said.compare(at, kSyntax.size(), kSyntax) != 0) continue;
    std::string frontend = said.substr(at + kSyntax.size());
    if (frontend.starts_with("docker.io/")) frontend.erase(0, 10);
    const std::string name = frontend.substr(0, frontend.find_first_of(":@"));
    if (name != "docker/dockerfile" && name != "docker/dockerfile-upstream") return refused(line);
  }
  return {};
}

}  // namespace

Status check_dockerfile(std::string_view text, const BuildEngine& engine) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.find('\0') != text.npos)
    return make_error(ErrorCode::invalid_argument, "the Dockerfile is not a text");
  TRY(check_frontend(text));
  // A line may be continued, or only look so: in a text of its own, or with another escape.
  for (const char escape : {'\\', '`', '\0'}) {
    Check check(text, engine);
    for (const std::string& line : instructions_of(text, escape)) TRY(check.instruction(line));
  }
  return {};
}

}  // namespace lockstep::envs
