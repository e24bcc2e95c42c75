#include "common/domain/environment/docker_args.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/cut.h"
#include "common/base/nearest.h"
#include "common/base/split_words.h"
#include "common/domain/environment/docker_values.h"

namespace lockstep {

namespace {

constexpr std::string_view kBlanks = " \t\n\r";
constexpr std::size_t kMaxShownValue = 60;  // the most bytes of a value in an error

Error wrong(std::string_view message, ErrorCode code = ErrorCode::invalid_argument) {
  return make_error(code, fmt::format("resources.docker_args: {}", message));
}

// Cuts a value, which may hold a secret or be long.
std::string shown(std::string_view value) { return cut(std::string(value), kMaxShownValue); }

// Reads options like docker's own parser (pflag): "--name=value", "--name value", "-nvalue",
// "-n=value", and several letters without values together.
class Reader {
 public:
  explicit Reader(const std::vector<std::string>& words) : words_(words) {}

  Result<std::vector<DockerArg>> read() {
    while (at_ < words_.size()) {
      const std::string& word = words_[at_++];
      if (word.starts_with("--") && word.size() > 2)
        TRY(read_name(std::string_view(word).substr(2)));
      else if (word.starts_with('-') && word.size() > 1 && word != "--")
        TRY(read_letters(word));
      else
        return no_option(word);
    }
    return std::move(given_);
  }

 private:
  Error no_option(const std::string& word) const {
    if (word.empty()) return wrong("has an empty word");
    const bool follows_flag = !given_.empty() && !given_.back().option->takes_value;
    if (follows_flag && (word == "true" || word == "false"))
      return wrong(fmt::format("'{}' is not an option; write --{}={}", word,
                               given_.back().option->name, word));
    return wrong(
        fmt::format("'{}' is not an option; name the image in environment.image and the program in "
                    "the job's `command`",
                    shown(word)));
  }

  static Error unknown(const std::string& written) {
    if (written.find_first_of(kBlanks) != std::string::npos)
      return wrong(fmt::format("'{}' holds a blank; write one word in each item of the list",
                               shown(written)));
    std::vector<std::string_view> names;
    for (const DockerOption& option : docker_options()) names.push_back(option.name);
    const auto first = written.find_first_not_of('-');
    const std::string near =
        first == std::string::npos ? "" : nearest(written.substr(first), names);
    return wrong(fmt::format("unknown option '{}'{}", shown(written),
                             near.empty() ? "" : fmt::format("; did you mean '--{}'?", near)));
  }

  Status read_name(std::string_view text) {
    const auto equals = text.find('=');
    const std::string name(text.substr(0, equals));
    const DockerOption* option = find_docker_option(name);
    if (option == nullptr) return unknown("--" + name);
    if (equals != std::string_view::npos) return take(*option, text.substr(equals + 1));
    return option->takes_value ? take_next(*option) : take(*option, "true");
  }

  Status read_letters(const std::string& word) {
    // A long option with one dash instead of two.
    if (word.size() > 2 && find_docker_option(word.substr(1, word.find('=') - 1)) != nullptr)
      return unknown(word.substr(0, word.find('=')));
    for (std::size_t i = 1; i < word.size(); ++i) {
      const DockerOption* option = find_docker_option(word[i]);
      const bool is_name = i == 1 && word.size() > 2 && word[2] != '=';
      if (option == nullptr)
        return unknown(is_name ? word.substr(0, word.find('=')) : std::string{'-', word[i]});
      std::string_view rest = std::string_view(word).substr(i + 1);
      const bool equals = rest.starts_with('=');
      if (equals) rest.remove_prefix(1);
      if (equals || (option->takes_value && !rest.empty())) return take(*option, rest);
      TRY(option->takes_value ? take_next(*option) : take(*option, "true"));
    }
    return {};
  }

  Status take_next(const DockerOption& option) {
    if (option.grant == DockerGrant::nobody) return take(option, "");
    if (at_ == words_.size())
      return wrong(fmt::format("'--{}' needs a value, and nothing follows it", option.name));
    return take(option, words_[at_++]);
  }

  Status take(const DockerOption& option, std::string_view value) {
    if (option.grant == DockerGrant::nobody)
      return wrong(fmt::format("a job cannot set '--{}': {}", option.name, option.instead));
    const auto truths = {"true", "false", "1",    "0",     "t",    "f",
                         "T",    "F",     "TRUE", "FALSE", "True", "False"};
    if (!option.takes_value && std::find(truths.begin(), truths.end(), value) == truths.end())
      return wrong(fmt::format("--{} '{}': takes no value; write --{}", option.name, shown(value),
                               option.name));
    given_.push_back({&option, std::string(value)});
    return {};
  }

  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  std::vector<DockerArg> given_;
};

bool is_operators(const DockerArg& given) {
  return given.option->grant == DockerGrant::operators ||
         is_operators_value(given.option->name, given.value);
}

Status check_sizes(const std::vector<std::string>& words) {
  if (words.size() > kMaxDockerArgs)
    return wrong(
        fmt::format("has {} words; at most {} are possible", words.size(), kMaxDockerArgs));
  std::size_t bytes = 0;
  for (const std::string& word : words) {
    if (word.find('\0') != std::string::npos) return wrong("holds a NUL byte");
    bytes += word.size() + 1;
  }
  if (bytes <= kMaxDockerArgsBytes) return {};
  return wrong(fmt::format("has {} bytes; at most {} are possible", bytes, kMaxDockerArgsBytes));
}

Result<std::vector<DockerArg>> read_all(const std::vector<std::string>& words) {
  TRY(check_sizes(words));
  TRY_ASSIGN(std::vector<DockerArg> all, read_docker_args(words));
  for (const DockerArg& given : all) {
    if (is_operators(given)) continue;
    if (const Status good = check_docker_value(given.option->name, given.value); !good)
      return wrong(fmt::format("--{} '{}': {}", given.option->name, shown(given.value),
                               good.error().message));
  }
  return all;
}

}  // namespace

Result<std::vector<DockerArg>> read_docker_args(const std::vector<std::string>& words) {
  return Reader(words).read();
}

Result<std::vector<std::string>> split_docker_args(std::string_view text) {
  auto words = split_words(text);
  if (!words) return wrong(words.error().message);
  return words;
}

Status check_docker_args(const std::vector<std::string>& words) {
  const auto all = read_all(words);
  return all ? Status() : all.error();
}

Status check_docker_args(const std::vector<std::string>& words,
                         const std::vector<std::string>& allowed) {
  TRY_ASSIGN(const std::vector<DockerArg> all, read_all(words));
  for (const DockerArg& given : all) {
    const std::string name = "--" + std::string(given.option->name);
    if (!is_operators(given) || std::find(allowed.begin(), allowed.end(), name) != allowed.end())
      continue;
    const bool of_value = given.option->grant == DockerGrant::everybody;
    return wrong(fmt::format("'{}{}' is refused unless the operator allows it: lockstepd "
                             "--allow-docker-args {}",
                             name, of_value ? " " + shown(given.value) : "", name),
                 ErrorCode::permission_denied);
  }
  return {};
}

Status check_allowable_docker_arg(const std::string& name) {
  const auto bad = [](std::string message) {
    return make_error(ErrorCode::invalid_argument, std::move(message));
  };
  const DockerOption* option =
      name.starts_with("--") ? find_docker_option(std::string_view(name).substr(2)) : nullptr;
  if (option != nullptr && option->grant == DockerGrant::nobody)
    return bad(fmt::format("a job cannot set '{}': {}", name, option->instead));
  if (option != nullptr) return {};
  std::vector<std::string_view> names;
  for (const DockerOption& one : docker_options())
    if (one.grant != DockerGrant::nobody) names.push_back(one.name);
  const auto first = name.find_first_not_of('-');
  const std::string near = first == std::string::npos ? "" : nearest(name.substr(first), names);
  return bad(fmt::format("'{}' is not an option of `docker run`{}", name,
                         near.empty() ? "; write its long name, as in --privileged"
                                      : fmt::format("; did you mean '--{}'?", near)));
}

}  // namespace lockstep
