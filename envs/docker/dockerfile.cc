#include "envs/docker/dockerfile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "common/grammar/image_name.h"
#include "envs/docker/dockerfile_text.h"
#include "envs/docker/dockerfile_variables.h"

namespace lockstep::envs {
namespace {

constexpr std::size_t kMaxHexId = 64;
constexpr std::size_t kMaxReadBytes = 16 << 20;

Error invalid(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

bool is_hex(std::string_view text) {
  return !text.empty() && text.size() <= kMaxHexId &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// Whether a name uses podman's transports: "dir:tmp", for example, reads a folder of the node.
bool is_transport(std::string_view image) {
  constexpr std::array<std::string_view, 10> kAll{
      "containers-storage", "dir",    "docker", "docker-archive", "docker-daemon", "oci",
      "oci-archive",        "ostree", "sif",    "tarball"};
  const auto colon = image.find(':');
  return colon != image.npos &&
         std::find(kAll.begin(), kAll.end(), image.substr(0, colon)) != kAll.end();
}

bool is_one_of(std::string_view word, const std::vector<std::string_view>& all) {
  return std::find(all.begin(), all.end(), word) != all.end();
}

// One reading of a Dockerfile.
class Check {
 public:
  // `has_text`: some lines may be text of an instruction (<<EOF). Then it is not known which stages
  // there are.
  Check(const BuildEngine& engine, bool has_text) : engine_(engine), has_text_(has_text) {}

  Status instruction(const std::string& line, std::size_t number) {
    line_ = line;
    number_ = number;
    std::string_view rest = line;
    std::string what;
    do {
      rest = without_blanks(rest);
      const auto end = std::min(rest.find_first_of(kDockerfileBlanks), rest.size());
      what = lower_word(bare_word(rest.substr(0, end)));
      rest = without_blanks(rest.substr(end));
      if (what == "onbuild") TRY(no_blank_before(rest));
    } while (what == "onbuild");
    const std::vector<std::string> words = dockerfile_words(rest);
    if (what == "arg" || what == "env") return values(rest, words);
    if (what == "from") return from(rest, words);
    if (what != "run" && what != "copy" && what != "add") return {};
    TRY(flags(rest));
    for (const std::string& word : words) TRY(what == "run" ? mount(word) : source(word));
    return {};
  }

 private:
  Error refused(std::string_view why) const {
    return invalid(
        fmt::format("the Dockerfile's line {}, '{:.200}', is refused: {}", number_, line_, why));
  }

  Error refused_blank(std::string_view text) const {
    return refused(fmt::format("it has {}, which engines take for a blank; write a plain blank",
                               unicode_blank_name(text.substr(0, unicode_blank(text)))));
  }

  Status no_blank_before(std::string_view text) const {
    return unicode_blank(text) > 0 ? Status(refused_blank(text)) : Status();
  }

  Status no_blank_in(std::string_view text) const {
    const auto at = find_unicode_blank(text);
    return at == text.npos ? Status() : Status(refused_blank(text.substr(at)));
  }

  // Checks the flags before an instruction's arguments. Engines parse them byte by byte. Quotes and
  // escapes are refused where they could hide another flag or field.
  Status flags(std::string_view rest) const {
    for (;;) {
      TRY(no_blank_before(rest));
      if (!rest.starts_with("--")) return {};
      TRY_ASSIGN(const std::size_t size, flag_size(rest));
      TRY(flag(bare_word(rest.substr(0, size))));
      rest = without_blanks(rest.substr(size));
    }
  }

  // Checks a flag. podman replaces variables in names of flags, too, and reads --fromX=… as
  // --from=….
  Status flag(const std::string& text) const {
    const auto equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (name.find('$') != name.npos)
      return refused(fmt::format("the flag {} has a variable in its name; write the name", name));
    for (const std::string known : {"--from", "--mount"})
      if (name.starts_with(known) && (name != known || equals == text.npos))
        return refused(fmt::format("{} is not a flag; write {}=…", text, known));
    return {};
  }

  Result<std::size_t> flag_size(std::string_view text) const {
    char quote = '\0';
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      const bool is_blank = kDockerfileBlanks.find(c) != kDockerfileBlanks.npos;
      const bool is_escape = c == '\\' || c == '`';
      if (static_cast<unsigned char>(c) >= 0x80)
        return refused("a flag (--…) has a character that is not ASCII; leave it out");
      if (is_escape && at + 1 < text.size())
        return refused("a flag (--…) has an escape; write the character itself");
      if (is_blank && quote == '\0') return at;
      if (is_blank) return refused("a flag (--…) has a blank in quotes; leave it out");
      if (quote != '\0')
        quote = c == quote ? '\0' : quote;
      else if (c == '"' || c == '\'')
        quote = c;
    }
    return text.size();
  }

  // Reads both forms: "NAME=VALUE …", and ENV's "NAME VALUE". A quoted value may contain blanks.
  Status values(std::string_view rest, const std::vector<std::string>& words) {
    TRY(no_blank_in(rest));
    std::string last;
    for (const std::string& word : words) {
      const auto equals = word.find('=');
      const bool is_value = equals == word.npos && !last.empty();
      if (!is_value) last = word.substr(0, equals);
      if (is_value || equals != word.npos)
        variables_.add(last, is_value ? word : word.substr(equals + 1));
    }
    return {};
  }

  Status from(std::string_view rest, const std::vector<std::string>& words) {
    TRY(no_blank_in(rest));
    TRY(flags(rest));
    std::size_t at = 0;
    while (at < words.size() && words[at].starts_with("--")) ++at;
    const bool is_named = at + 3 == words.size() && lower_word(bare_word(words[at + 1])) == "as";
    // A word without '=' may be text of an instruction. Engines refuse it elsewhere.
    if (at + 1 != words.size() && !is_named) return {};
    TRY(image(words[at], false));
    ++stages_;
    if (is_named) names_.push_back(words[at + 2]);
    return {};
  }

  Status source(const std::string& word) const {
    if (!bare_word(word).starts_with("--from=")) return {};
    if (engine_.is_podman && word.find('$') != word.npos)
      return refused("podman would put a variable's value into --from; write the value");
    return image(word.substr(word.find('=') + 1), true);
  }

  Status mount(const std::string& word) const {
    if (!bare_word(word).starts_with("--mount=")) return {};
    const std::string all = word.substr(word.find('=') + 1) + ",";
    if (engine_.is_podman && all.find('$') != all.npos)
      return refused("podman would put a variable's value into --mount; write the value");
    if (!engine_.leaky_mounts.empty() && !is_of_memory(bare_word(all)))
      return refused(fmt::format(
          "{} runs as root here, and lets a --mount other than type=tmpfs reach files of the node "
          "(CVE-2024-1753, CVE-2024-9407, CVE-2024-9675). Leave --mount out; or let the operator "
          "install podman 5.2.5 or docker, run the agent as an ordinary user, or, where the "
          "package has the fixes, set LOCKSTEP_PODMAN_MOUNTS=allow for the agent",
          engine_.leaky_mounts));
    for (std::size_t at = 0; at < all.size();) {
      const auto end = all.find(',', at);
      const std::string field = all.substr(at, end - at);
      at = end + 1;
      const auto equals = std::min(field.find('='), field.size());
      const std::string key = lower_word(bare_word(field.substr(0, equals)));
      const std::string value = field.substr(std::min(equals + 1, field.size()));
      if (key == "from") TRY(image(value, true));
      if (key == "type" && lower_word(bare_word(value)) == "cache") TRY(cache());
      if (key == "id" && engine_.is_podman && bare_word(value).find("..") != value.npos)
        return refused("podman takes the id of a cache for a path; leave '..' out");
    }
    return {};
  }

  // Whether a mount is a tmpfs. A cache is a folder of the node: a link in it may lead to any path,
  // even with the target of another cache. A tmpfs names nothing outside the container.
  static bool is_of_memory(std::string_view fields) {
    bool is_tmpfs = false;
    for (std::size_t at = 0; at < fields.size();) {
      const auto end = fields.find(',', at);
      const std::string_view field = fields.substr(at, end - at);
      at = end + 1;
      const std::string_view key = field.substr(0, field.find('='));
      is_tmpfs = is_tmpfs || field == "type=tmpfs";
      if (key == "type" ? field != "type=tmpfs"
                        : !is_one_of(key, {"target", "dst", "destination", "size", "mode",
                                           "tmpfs-size", "tmpfs-mode"}))
        return false;
    }
    return is_tmpfs;
  }

  Status cache() const {
    if (!engine_.is_podman || !engine_.is_remote) return {};
    return refused(
        "the podman service of this node shares caches of builds among all users; leave "
        "--mount=type=cache out");
  }

  // Whether the name is a stage's. BuildKit compares names of stages in lower case, podman compares
  // them unchanged.
  bool is_stage(const std::string& name, bool by_number) const {
    if (has_text_) return false;
    const auto is_name = [&](const std::string& stage) {
      if (!engine_.is_podman) return lower_word(stage) == lower_word(name);
      return stage == name && lower_word(stage) == stage;
    };
    if (std::any_of(names_.begin(), names_.end(), is_name)) return true;
    for (std::size_t stage = 0; by_number && stage + 1 < stages_; ++stage)
      if (name == std::to_string(stage)) return true;
    return false;
  }

  Status image(const std::string& name, bool by_number) const {
    const auto all = variables_.expand(name);
    if (!all)
      return refused(
          fmt::format("the image that '{}' stands for cannot be determined; write its name", name));
    for (const std::string& one : *all)
      if (!is_stage(one, by_number)) TRY(check_name(one));
    return {};
  }

  Status check_name(const std::string& name) const {
    if (name.empty() || name == "scratch") return {};
    if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c >= 0x80; }))
      return refused(
          fmt::format("'{}' cannot name an image: it has a character that is not ASCII", name));
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

  const BuildEngine& engine_;
  const bool has_text_;
  std::string line_;
  std::size_t number_ = 0;
  std::vector<std::string> names_;  // names of the stages so far
  std::size_t stages_ = 0;
  DockerfileVariables variables_;  // variables that have a value so far
};

// Refuses other frontends, which may not keep the name space of the caches.
Status check_frontend(const std::vector<std::string_view>& lines) {
  const auto refused = [](std::string_view line) {
    return invalid(fmt::format(
        "the Dockerfile's line '{:.200}' is refused: the only frontends are docker's own, "
        "`# syntax=docker/dockerfile:…`; or leave it out",
        line));
  };
  for (const std::string_view raw : lines) {
    const std::string_view line = without_blanks(raw);
    if (line.empty()) continue;
    if (line.starts_with("{") || line.starts_with("#!")) return refused(line);
    if (!line.starts_with("#") && !line.starts_with("//")) return {};
    std::string said = lower_word(line);
    std::erase_if(said, [](char c) {
      return kDockerfileBlanks.find(c) != kDockerfileBlanks.npos ||
             static_cast<unsigned char>(c) >= 0x80;
    });
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

// Characters that only some engines treat as blanks at the beginning of a line, or as its end.
Status check_characters(const std::vector<std::string_view>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto refused = [&](std::string_view what, std::string_view advice) {
      return invalid(
          fmt::format("the Dockerfile's line {} is refused: it has {}; {}", i + 1, what, advice));
    };
    if (lines[i].find('\0') != std::string_view::npos)
      return refused("a null character", "a Dockerfile is a text");
    if (lines[i].find_first_of("\v\f\r") != std::string_view::npos)
      return refused("a vertical tab, a form feed or a carriage return",
                     "write a blank, or a new line");
    const std::string_view line = without_blanks(lines[i]);
    if (const std::size_t size = unicode_blank(line); size > 0)
      return refused(fmt::format("{} at its begin, which engines take for a blank",
                                 unicode_blank_name(line.substr(0, size))),
                     "write a plain blank");
  }
  return {};
}

// Checks one reading. If only the engine knows where an instruction's text ends, each line is
// checked as if it were the first one of an instruction.
Status check_reading(const std::vector<std::string_view>& lines, const DockerfileReading& reading,
                     const BuildEngine& engine, bool has_text) {
  Check check(engine, has_text);
  std::size_t bytes = 0;
  for (std::size_t at = 0; at < lines.size();) {
    const DockerfileInstruction read = dockerfile_instruction(lines, at, reading);
    bytes += read.text.size() + (read.next - at);
    if (bytes > kMaxReadBytes)
      return invalid(
          "the Dockerfile is refused: it has too many continued lines beside a text (<<)");
    if (!read.text.empty()) TRY(check.instruction(read.text, at + 1));
    at = has_text ? at + 1 : read.next;
  }
  return {};
}

}  // namespace

Status check_dockerfile(std::string_view text, const BuildEngine& engine) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::vector<std::string_view> lines = dockerfile_lines(text);
  TRY(check_characters(lines));
  TRY(check_frontend(lines));
  // "<<" may also stand at the end of a line and the begin of the next one.
  const bool has_text =
      text.find("<<") != text.npos || std::any_of(lines.begin(), lines.end(), [](const auto& line) {
        return without_blanks(line).starts_with('<');
      });
  for (const DockerfileReading& reading : dockerfile_readings())
    TRY(check_reading(lines, reading, engine, has_text));
  return {};
}

}  // namespace lockstep::envs
