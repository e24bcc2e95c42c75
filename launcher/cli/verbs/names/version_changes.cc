#include "launcher/cli/verbs/names/version_changes.h"

#include <fmt/format.h>

#include "common/domain/environment/definition.h"

namespace lockstep::cli {

namespace {

constexpr std::string_view kTag = "tags.", kScheme = "azureml:", kLatest = "latest";

struct Flag {
  std::string_view verb, name, words;  // "data update", "--set", and the text after it

  Error wrong(const std::string& what) const {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{}: {} '{}': {}", verb, name, words, what));
  }
};

// The tag's key; "": the flag means the description.
Result<std::string> tag_in(const Flag& flag, std::string_view key) {
  if (key == "description") return std::string();
  if (key == "tags") return flag.wrong("write tags.KEY=VALUE, once for each tag");
  if (!key.starts_with(kTag))
    return flag.wrong(fmt::format(
        "'{}' cannot be changed: only description and tags.KEY can, because a version keeps its "
        "content; create another version",
        key));
  if (key.size() == kTag.size()) return flag.wrong("has no key; write tags.KEY");
  return std::string(key.substr(kTag.size()));
}

Status set_one(std::string_view verb, const std::string& assignment, AnnotateVersion* changes) {
  const Flag flag{verb, "--set", assignment};
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0)
    return flag.wrong("is not of the form KEY=VALUE, as in tags.owner=ada");
  TRY_ASSIGN(const std::string tag, tag_in(flag, std::string_view(assignment).substr(0, equals)));
  const std::string value = assignment.substr(equals + 1);
  if (tag.empty())
    changes->description = value;
  else
    changes->set_tags[tag] = value;
  return {};
}

Status remove_one(std::string_view verb, const std::string& key, AnnotateVersion* changes) {
  if (key == "tags") {
    changes->clear_tags = true;
    return {};
  }
  const Flag flag{verb, "--remove", key};
  TRY_ASSIGN(const std::string tag, tag_in(flag, key));
  const bool is_set =
      tag.empty() ? changes->description.has_value() : changes->set_tags.count(tag) != 0;
  if (is_set) return flag.wrong("--set gives it a value as well; write one of them");
  if (tag.empty())
    changes->description = "";
  else
    changes->remove_tags.push_back(tag);
  return {};
}

}  // namespace

Result<NamedVersion> read_version_words(std::string_view verb, const VersionWords& words) {
  const auto wrong = [&](ErrorCode code, const std::string& what) {
    return make_error(code, fmt::format("{}: {}", verb, what));
  };
  NamedVersion named{words.name, words.version, false};
  std::string label = words.label;
  if (named.name.starts_with(kScheme)) named.name.erase(0, kScheme.size());
  if (const auto end = named.name.find_first_of(":@"); end != std::string::npos) {
    if (!words.version.empty() || !label.empty())
      return wrong(ErrorCode::invalid_argument,
                   fmt::format("'{}' already names the version; leave {} out", words.name,
                               words.version.empty() ? "--label" : "--version"));
    const bool is_version = named.name[end] == ':';
    std::string rest = named.name.substr(end + 1);
    if (rest.empty())
      return wrong(ErrorCode::invalid_argument,
                   fmt::format("'{}': nothing stands behind its last character", words.name));
    (is_version ? named.version : label) = std::move(rest);
    named.name.erase(end);
  }
  if (!label.empty() && label != kLatest)
    return wrong(ErrorCode::unsupported,
                 fmt::format("the label '{}' is not supported; only latest is", label));
  named.is_latest = !label.empty();
  TRY(validate_environment_name(fmt::format("{}: NAME", verb), named.name));
  return named;
}

Result<AnnotateVersion> read_version_changes(std::string_view verb,
                                             const std::vector<std::string>& set,
                                             const std::vector<std::string>& remove) {
  AnnotateVersion changes;
  for (const std::string& assignment : set) TRY(set_one(verb, assignment, &changes));
  for (const std::string& key : remove) TRY(remove_one(verb, key, &changes));
  return changes;
}

}  // namespace lockstep::cli
