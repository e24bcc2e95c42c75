#include "launcher/files/environment/requirements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/trimmed.h"
#include "common/grammar/requirement_text.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {
namespace {

constexpr std::string_view kBlank = " \t\r\f\v";

// The line up to a '#' at its beginning or after a blank.
std::string_view without_comment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i)
    if (line[i] == '#' && (i == 0 || kBlank.find(line[i - 1]) != std::string_view::npos))
      return line.substr(0, i);
  return line;
}

struct Line {
  struct Part {
    int number;         // number of the line in the file, from 1
    std::size_t begin;  // the position in `joined`
  };
  std::vector<Part> parts;
  std::string joined;                // the text of all parts
  std::size_t begin = 0, bytes = 0;  // the requirement in it, without comment and outer blanks

  std::string_view text() const { return std::string_view(joined).substr(begin, bytes); }

  // "r.txt:3"; with the column of text()[at], counted in characters, if `at` is given.
  std::string where(const std::string& path, std::optional<std::size_t> at) const {
    if (!at) return fmt::format("{}:{}", path, parts.front().number);
    const std::size_t place = begin + *at;
    auto part = parts.rbegin();
    while (part->begin > place) ++part;
    const auto column = std::count_if(joined.begin() + static_cast<std::ptrdiff_t>(part->begin),
                                      joined.begin() + static_cast<std::ptrdiff_t>(place),
                                      [](unsigned char c) { return (c & 0xc0) != 0x80; });
    return fmt::format("{}:{}:{}", path, part->number, column + 1);
  }
};

// Joins lines as pip does: a backslash at the end of a line joins it with the next, before comments
// are removed.
std::vector<Line> logical_lines(std::string_view text) {
  std::vector<Line> lines;
  bool joined = false;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const bool comment = trimmed(line).starts_with('#');
    const bool goes_on = !comment && line.ends_with('\\');
    if (goes_on) line.remove_suffix(1);
    if (!joined) lines.emplace_back();
    if (!joined || !comment) {
      lines.back().parts.push_back({number, lines.back().joined.size()});
      lines.back().joined += line;
    }
    joined = goes_on;
  }
  for (Line& line : lines) {
    const std::string_view text = trimmed(without_comment(line.joined));
    line.begin = text.empty() ? 0 : static_cast<std::size_t>(text.data() - line.joined.data());
    line.bytes = text.size();
  }
  std::erase_if(lines, [](const Line& line) { return line.bytes == 0; });
  return lines;
}

// An option with a value can be written "-i URL", "-iURL", "--index-url URL" or "--index-url=URL".
struct Option {
  std::string_view name;  // the option's long name
  std::string_view letter = {};
  bool has_value = true;
};
constexpr Option kInclude{"--requirement", "-r"};
constexpr Option kConstraint{"--constraint", "-c"};
constexpr Option kEditable{"--editable", "-e"};
constexpr Option kFindLinks{"--find-links", "-f"};
constexpr std::array kOptions{
    Option{"--index-url", "-i"},
    Option{"--extra-index-url"},
    kFindLinks,
    Option{"--no-binary"},
    Option{"--only-binary"},
    Option{"--trusted-host"},
    Option{"--no-index", {}, false},
    Option{"--prefer-binary", {}, false},
    Option{"--pre", {}, false},
};

// The option's value, "" for one without a value; nothing if the line is not this option.
std::optional<std::string> value_of(std::string_view line, const Option& option) {
  const auto after = [&](std::string_view word) -> std::optional<std::string_view> {
    if (word.empty() || !line.starts_with(word)) return std::nullopt;
    return line.substr(word.size());
  };
  if (const auto rest = after(option.name)) {
    if (rest->empty()) return "";
    if (rest->front() == '=' || kBlank.find(rest->front()) != std::string_view::npos)
      return std::string(trimmed(rest->substr(1)));
  }
  if (const auto rest = after(option.letter)) return std::string(trimmed(*rest));
  return std::nullopt;
}

Error invalid(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

bool is_address(std::string_view text) { return text.find("://") != std::string_view::npos; }

Status add_option(std::string_view line, const Option& option, std::string value,
                  VenvEnvironment& environment) {
  if (option.has_value == value.empty())
    return invalid(fmt::format("'{}': {} {}", line, option.name,
                               option.has_value ? "needs a value" : "takes no value"));
  if (option.name == kFindLinks.name && !is_address(value) && !value.starts_with('/'))
    return invalid(
        fmt::format("'{}': the path is relative, but the nodes search it for packages; write an "
                    "absolute path that exists on all nodes, or an address",
                    line));
  environment.options.push_back(option.has_value ? fmt::format("{} {}", option.name, value)
                                                 : std::string(option.name));
  return {};
}

// A variable in pip's form, "${NAME}".
std::string_view variable_in(std::string_view line) {
  for (auto at = line.find("${"); at != std::string_view::npos; at = line.find("${", at + 2)) {
    const auto end = line.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", at + 2);
    if (end != std::string_view::npos && end > at + 2 && line[end] == '}')
      return line.substr(at, end + 1 - at);
  }
  return {};
}

Status check_no_variable(std::string_view line) {
  const std::string_view variable = variable_in(line);
  if (variable.empty()) return {};
  return invalid(
      fmt::format("'{}': {} may have another value on each node; write the value itself, or, for a "
                  "package index, {}",
                  line, variable, kNoPasswordOfPip));
}

// The address or path in "numpy @ file:///croot/numpy", or the line's first word.
std::string_view place_in(std::string_view line) {
  const auto at = line.find('@');
  return at == std::string_view::npos ? line.substr(0, line.find_first_of(" \t;"))
                                      : trimmed(line.substr(at + 1));
}

// Whether the path is of the machine that built a conda package; conda tells pip such paths.
bool is_place_of_conda_build(std::string_view line) {
  const std::string_view place = place_in(line);
  static constexpr std::array<std::string_view, 5> kMarks{"/croot/", "/feedstock_root/",
                                                          "/conda-bld/", "/bld/", "/80754af9"};
  return place.starts_with("file://") &&
         (place.ends_with("/work") || std::any_of(kMarks.begin(), kMarks.end(), [&](auto mark) {
            return place.find(mark) != std::string_view::npos;
          }));
}

// Checks that every node would install the same for this line, which is not an option.
Status check_requirement(std::string_view line) {
  const std::string_view first = line.substr(0, line.find_first_of(" \t;"));
  for (std::string_view tool : {"git+", "hg+", "svn+", "bzr+"})
    if (line.find(tool) != std::string_view::npos && is_address(line))
      return invalid(
          fmt::format("'{}': a package from version control has no hash to check; give the address "
                      "of a wheel or an archive",
                      line));
  const std::string_view place = place_in(line);
  if (first.starts_with('.') || first.starts_with('/') || place.starts_with("file:") ||
      (first.find('/') != std::string_view::npos && !is_address(first)))
    return invalid(
        fmt::format("'{}': is a path, which may not exist on the nodes; put the package below "
                    "`code` and install it in the command, or give its address",
                    line));
  return {};
}

// Adds a line. `at`: gets the position of the error in the line, if it has one.
Status add_line(std::string_view line, VenvEnvironment& environment,
                std::vector<std::string>& requirements, std::optional<std::size_t>& at) {
  if (line.size() > kMaxEnvironmentLineBytes)
    return invalid(fmt::format("the line has {} bytes; at most {} are allowed", line.size(),
                               kMaxEnvironmentLineBytes));
  if (value_of(line, kEditable))
    return invalid(fmt::format(
        "'{}': an editable install needs a directory, which may not exist on the nodes; put the "
        "directory below `code` and set PYTHONPATH in environment_variables",
        line));
  TRY(check_no_secret(line, kNoPasswordOfPip));
  TRY(check_no_variable(line));
  if (line.starts_with('-')) {
    for (const Option& option : kOptions)
      if (auto value = value_of(line, option))
        return add_option(line, option, std::move(*value), environment);
    return invalid(
        fmt::format("'{}': unknown option; the known options are -r, -c, --index-url, "
                    "--extra-index-url, --no-index, --find-links, --no-binary, --only-binary, "
                    "--prefer-binary, --pre and --trusted-host",
                    line));
  }
  TRY(check_requirement(line));
  // An environment's text must be one line; if it is not, that is the error.
  const bool is_one_line =
      line.find_first_of(std::string_view("\n\0", 2)) == std::string_view::npos;
  const auto fault = is_one_line ? fault_of_requirement(line) : std::nullopt;
  if (fault) {
    at = fault->at;
    return invalid(fmt::format("'{}': {}", line, fault->message));
  }
  requirements.emplace_back(line);
  return {};
}

// The file that a line with this option names, relative to `path`; nothing if it is not this
// option.
Result<std::optional<std::string>> included(std::string_view line, const Option& option,
                                            const std::string& path) {
  const auto named = value_of(line, option);
  if (!named) return std::optional<std::string>();
  TRY(check_no_variable(line));
  if (named->empty()) return invalid(fmt::format("'{}': names no file", line));
  if (is_address(*named))
    return invalid(
        fmt::format("'{}': only local files are read; download the file and name the copy", line));
  return std::optional((std::filesystem::path(path).parent_path() / *named).string());
}

class Reader {
 public:
  Reader(const ReadText& read_text, VenvEnvironment& environment)
      : read_text_(read_text), environment_(environment) {}

  Status read(const std::string& path, std::vector<std::string>& requirements) {
    TRY_ASSIGN(const std::string text, read_text_(path));
    bytes_ += text.size();
    if (bytes_ > kMaxRequirementsBytes)
      return invalid(fmt::format("{}:1: all requirements files together have more than {}", path,
                                 to_string(Bytes{kMaxRequirementsBytes})));
    open_.push_back(normal(path));
    for (const Line& line : logical_lines(text)) TRY(read_line(path, line, requirements));
    open_.pop_back();
    return {};
  }

  // The result for all files: the errors in their lines, or else `read`, the error that ended
  // reading.
  Status outcome(const Status& read) {
    Faults faults;
    if (!conda_.empty())
      faults.add({},
                 invalid(fmt::format(
                     "{}: made by `pip freeze` in a conda environment: 'NAME @ file:…' is where "
                     "its builder had the package; write `pip list --format=freeze > FILE` "
                     "there, or take the conda environment along: `conda env export "
                     "--from-history > environment.yml`, and --conda-file environment.yml",
                     conda_)));
    for (const Error& wrong : wrong_) faults.add({}, wrong);
    if (!read) faults.add({}, read.error());
    return wrong_.empty() ? read : faults.status();
  }

 private:
  static std::string normal(const std::string& path) {
    return std::filesystem::path(path).lexically_normal().string();
  }

  // Checks that `path` is not being read already.
  Status check_new(const std::string& path) const {
    if (std::find(open_.begin(), open_.end(), normal(path)) != open_.end())
      return invalid(fmt::format("{} includes itself through -r or -c", path));
    if (open_.size() >= kMaxRequirementsDepth)
      return invalid(
          fmt::format("{} is nested more than {} files deep", path, kMaxRequirementsDepth));
    return {};
  }

  Status read_line(const std::string& path, const Line& line,
                   std::vector<std::string>& requirements) {
    const auto placed = [&](const Error& error, std::optional<std::size_t> at = std::nullopt) {
      return make_error(error.code, fmt::format("{}: {}", line.where(path, at), error.message));
    };
    if (++lines_ > kMaxEnvironmentLines)
      return placed(
          invalid(fmt::format("too many lines: at most {} are allowed, and a file counts each time "
                              "that -r or -c includes it",
                              kMaxEnvironmentLines)));
    for (const Option* option : {&kInclude, &kConstraint}) {
      const auto file = included(line.text(), *option, path);
      if (!file) return placed(file.error());
      if (!*file) continue;
      if (const Status is_new = check_new(**file); !is_new) return placed(is_new.error());
      auto& into = option == &kConstraint ? environment_.constraints : requirements;
      const Status read_in = read(**file, into);
      // Errors in that file have their own place; a missing file is an error of this line.
      if (!read_in && read_in.error().code != ErrorCode::invalid_argument)
        return placed(read_in.error());
      return read_in;
    }
    std::optional<std::size_t> at;
    const Status added = add_line(line.text(), environment_, requirements, at);
    if (added) return {};
    if (conda_.empty() && is_place_of_conda_build(line.text())) conda_ = path;
    wrong_.push_back(placed(added.error(), at));
    return {};
  }

  const ReadText& read_text_;
  VenvEnvironment& environment_;
  std::vector<std::string> open_;
  std::vector<Error> wrong_;  // errors in the order of lines
  std::string conda_;         // the first file that conda's pip wrote
  std::size_t lines_ = 0;     // lines of all files, counted each time they are read
  std::size_t bytes_ = 0;
};

}  // namespace

Status read_requirements(const std::string& path, const ReadText& read_text,
                         VenvEnvironment& environment) {
  Reader reader(read_text, environment);
  return reader.outcome(reader.read(path, environment.requirements));
}

ReadText checked(ReadText read_text) {
  return [read_text = std::move(read_text)](const std::string& file) -> Result<std::string> {
    TRY_ASSIGN(std::string text, read_text(file));
    text = as_utf8(std::move(text));
    const std::string_view good = without_mark(text);
    TRY(check_text(Source{file, good}));
    return std::string(good);
  };
}

Status add_requirement(std::string_view line, VenvEnvironment& environment) {
  const std::string_view text = trimmed(without_comment(line));
  for (const Option* option : {&kInclude, &kConstraint})
    if (value_of(text, *option))
      return invalid(
          fmt::format("'{}': a list must contain packages, not files; to read a file, write "
                      "`requirements: FILE`",
                      text));
  if (text.empty()) return {};
  std::optional<std::size_t> at;  // empty: the list's item already has a place
  return add_line(text, environment, environment.requirements, at);
}

Status add_entry(std::string_view line, const std::string& path, const ReadText& read_text,
                 VenvEnvironment& environment) {
  const std::string_view text = trimmed(without_comment(line));
  for (const Option* option : {&kInclude, &kConstraint}) {
    TRY_ASSIGN(const auto file, included(text, *option, path));
    if (!file) continue;
    auto& into = option == &kConstraint ? environment.constraints : environment.requirements;
    Reader reader(read_text, environment);
    return reader.outcome(reader.read(std::filesystem::path(*file).lexically_normal(), into));
  }
  return add_requirement(line, environment);
}

// Refuses a password in an address: everybody who may see the environment would see it, for as long
// as it exists.
Status check_no_secret(std::string_view line, std::string_view instead_of_password) {
  for (auto at = line.find("://"); at != std::string_view::npos; at = line.find("://", at + 3)) {
    const auto end = std::min(line.find_first_of("/ \t", at + 3), line.size());
    const std::string_view place = line.substr(at + 3, end - at - 3);
    const auto host = place.rfind('@');
    const bool password = host != std::string_view::npos && place.find(':') < host;
    const bool token = line.substr(end).starts_with("/t/");  // the token of a conda channel
    if (!password && !token) continue;
    return invalid(fmt::format(
        "an address holds a {}, which everybody who may look at the environment would see; {}",
        password ? "password" : "token", password ? instead_of_password : kNoPasswordOfConda));
  }
  return {};
}

}  // namespace lockstep::spec
