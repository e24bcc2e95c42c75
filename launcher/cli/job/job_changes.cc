#include "launcher/cli/job/job_changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/nearest.h"
#include "launcher/files/yaml/keys.h"

namespace lockstep::cli {

namespace {

constexpr std::string_view kTag = "tags.";
constexpr std::string_view kKeys[] = {"display_name", "description", "experiment_name", "tags"};
constexpr std::string_view kCanBeChanged =
    "display_name, description, experiment_name and tags.KEY can be changed";

// Keys that users know from az or from `job show`, and the verb that changes each.
struct Instead {
  std::string_view key, words;
};
constexpr Instead kInstead[] = {
    {"name", "a job keeps its name; change display_name"},
    {"status", "`lockstep job cancel NAME` ends a job"},
    {"archived", "write `lockstep job archive NAME`, or restore"},
    {"is_archived", "write `lockstep job archive NAME`, or restore"},
    {"properties", "write what you want to note into tags.KEY"},
    {"priority", "write --priority, while the job is Queued"},
    {"queue_settings.priority", "write --priority, while the job is Queued"},
    {"lockstep.shared", "write `lockstep job share NAME`, or unshare"},
};

struct Flag {
  std::string_view name, words;  // --set, and the text after it

  Error wrong(const std::string& what) const {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("job update: {} '{}': {}", name, words, what));
  }
};

bool is_at_or_below(std::string_view key, std::string_view section) {
  return key.starts_with(section) && (key.size() == section.size() || key[section.size()] == '.');
}

bool is_key_of_job(std::string_view key) {
  const std::string_view first = key.substr(0, key.find('.'));
  for (const spec::KeyTable& table : {spec::job_keys(), spec::pipeline_keys()})
    for (const auto keys : {table.own, table.base})
      for (const spec::KnownKey& known : keys)
        if (is_at_or_below(known.path, first)) return true;
  return false;
}

Error refusal(const Flag& flag, const std::string& key) {
  for (const Instead& instead : kInstead)
    if (is_at_or_below(key, instead.key))
      return flag.wrong(fmt::format("'{}' cannot be changed; {}", key, instead.words));
  if (is_key_of_job(key))
    return flag.wrong(
        fmt::format("'{}' is fixed when a job is submitted; submit another with it: `lockstep job "
                    "create -f FILE --set {}=…` ({})",
                    key, key, kCanBeChanged));
  const std::string near = nearest(key.substr(0, key.find('.')), kKeys);
  return flag.wrong(fmt::format("'{}' is not a key of a job; {}{}", key,
                                near.empty() ? "" : fmt::format("did you mean '{}'? ", near),
                                kCanBeChanged));
}

// Null: the key is not one of the texts.
std::optional<std::string>* text_called(AnnotateJob& changes, std::string_view key) {
  if (key == "display_name") return &changes.display_name;
  if (key == "description") return &changes.description;
  if (key == "experiment_name") return &changes.experiment_name;
  return nullptr;
}

Result<std::string> tag_of(const Flag& flag, const std::string& key) {
  if (key.size() == kTag.size()) return flag.wrong("has no key; write tags.KEY");
  return key.substr(kTag.size());
}

Status set_one(const std::string& assignment, AnnotateJob* changes) {
  const Flag flag{"--set", assignment};
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0)
    return flag.wrong("is not of the form KEY=VALUE, as in tags.owner=ada");
  const std::string key = assignment.substr(0, equals);
  std::string value = assignment.substr(equals + 1);
  if (auto* text = text_called(*changes, key)) {
    *text = std::move(value);
    return {};
  }
  if (key == "tags") return flag.wrong("write tags.KEY=VALUE, once for each tag");
  if (!key.starts_with(kTag)) return refusal(flag, key);
  TRY_ASSIGN(const std::string tag, tag_of(flag, key));
  changes->set_tags[tag] = std::move(value);
  return {};
}

Status remove_one(const std::string& key, AnnotateJob* changes) {
  const Flag flag{"--remove", key};
  if (auto* text = text_called(*changes, key)) {
    if (*text) return flag.wrong("--set gives it a value as well; write one of them");
    *text = "";
    return {};
  }
  if (key == "tags") {
    changes->clear_tags = true;
    return {};
  }
  if (!key.starts_with(kTag)) return refusal(flag, key);
  TRY_ASSIGN(std::string tag, tag_of(flag, key));
  if (changes->set_tags.count(tag) != 0)
    return flag.wrong("--set gives it a value as well; write one of them");
  changes->remove_tags.push_back(std::move(tag));
  return {};
}

}  // namespace

Result<AnnotateJob> read_job_changes(const std::vector<std::string>& set,
                                     const std::vector<std::string>& remove) {
  AnnotateJob changes;
  for (const std::string& assignment : set) TRY(set_one(assignment, &changes));
  for (const std::string& key : remove) TRY(remove_one(key, &changes));
  return changes;
}

}  // namespace lockstep::cli
