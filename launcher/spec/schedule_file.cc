#include "launcher/spec/schedule_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "common/base/nearest.h"
#include "launcher/spec/data_path.h"
#include "launcher/spec/firing_expressions.h"
#include "launcher/spec/job_shapes.h"
#include "launcher/spec/known_word.h"
#include "launcher/spec/named_text.h"
#include "launcher/spec/trigger_reader.h"

namespace lockstep::spec {
namespace {

using Kind = YamlNode::Kind;

constexpr std::array<std::string_view, 9> kKeysOfSchedules{
    "$schema", "name",       "display_name", "description", "tags",
    "trigger", "create_job", "is_enabled",   "lockstep"};
// What `az ml schedule show` prints beside them.
constexpr std::array<std::string_view, 6> kKeysWithoutEffect{
    "id", "version", "properties", "creation_context", "provisioning_state", "resourceGroup"};
constexpr std::array<std::string_view, 2> kOtherActions{"create_monitor", "import_data"};
constexpr std::array<std::string_view, 3> kKeysOfAJob{"command", "jobs", "trial"};
constexpr std::array<std::string_view, 1> kOurKeys{"overlap"};
// Of a job: what `create_job` has of these is added to what the job's file has, name by name.
constexpr std::array<std::string_view, 7> kAddedByName{
    "inputs", "outputs", "tags", "environment_variables", "settings", "resources", "limits"};
constexpr std::array<std::string_view, 8> kKeysOfTheLaunchers{"name",
                                                              "trigger",
                                                              "trigger.time_zone",
                                                              "trigger.end_time",
                                                              "trigger.start_time",
                                                              "trigger.expression",
                                                              "create_job",
                                                              "lockstep.overlap"};
constexpr std::string_view kCreateJob = "create_job", kRegistered = "azureml:";

bool is_one_of(const auto& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

YamlEntry* entry_in(YamlNode& mapping, std::string_view key) {
  for (YamlEntry& entry : mapping.entries)
    if (entry.key == key) return &entry;
  return nullptr;
}

// `create_job: ./train.yml` becomes `create_job: {job: ./train.yml}`, so that a --set finds its
// mapping.
void open_create_job(YamlNode& root) {
  YamlEntry* entry = entry_in(root, kCreateJob);
  if (entry == nullptr || entry->value.kind != Kind::scalar) return;
  YamlNode mapping;
  mapping.kind = Kind::mapping;
  mapping.place = entry->value.place;
  mapping.entries.push_back({"job", entry->value.place, std::move(entry->value)});
  entry->value = std::move(mapping);
}

void replace(YamlNode& mapping, YamlEntry over) {
  YamlEntry* entry = entry_in(mapping, over.key);
  if (entry == nullptr)
    mapping.entries.push_back(std::move(over));
  else
    *entry = std::move(over);
}

// Puts a key of `create_job` over that of the job's file.
void put(YamlNode& job, YamlEntry over) {
  YamlEntry* entry = entry_in(job, over.key);
  const bool is_added = entry != nullptr && is_one_of(kAddedByName, over.key) &&
                        entry->value.kind == Kind::mapping && over.value.kind == Kind::mapping;
  if (!is_added) return replace(job, std::move(over));
  for (YamlEntry& inner : over.value.entries) replace(entry->value, std::move(inner));
}

// The name of a job in "azureml:NAME", or in the long form of Azure's dumps; "": there is none.
std::string registered_job(std::string_view text) {
  text.remove_prefix(kRegistered.size());
  constexpr std::string_view kJobs = "/jobs/";
  if (const auto at = text.rfind(kJobs); at != std::string_view::npos)
    text.remove_prefix(at + kJobs.size());
  const std::string name(text);
  return validate_job_name(name) ? name : "";
}

// Reads the job's file that is called `name` and has this text; `change` is applied to its tree.
using ReadJobFile = std::function<Result<JobFile>(const std::string& name, const std::string& text,
                                                  const ChangeTree& change)>;

class ScheduleFileReader {
 public:
  ScheduleFileReader(const Source& source, YamlNode root, const ReadText& read_text,
                     const ReadJobFile& read_job, Faults& faults)
      : source_(source),
        root_(std::move(root)),
        read_text_(read_text),
        read_job_(read_job),
        faults_(faults) {}

  ScheduleFile read() {
    ScheduleFile file;
    if (is_other_file()) return file;
    for (const YamlEntry& entry : root_.entries) check_key(entry, file.notes);
    JobSchedule& schedule = file.schedule;
    schedule.name = text("name");
    schedule.display_name = text("display_name");
    schedule.description = text("description");
    read_tags(schedule);
    read_enabled(schedule);
    read_ours(schedule);
    if (const YamlEntry* trigger = at("trigger"))
      read_trigger(source_, trigger->value, "trigger", faults_, schedule.trigger);
    else
      fault(root_.place, "a schedule needs a 'trigger' of type cron or recurrence");
    check_texts(schedule);
    read_create_job(file);
    for (const std::string_view key : kKeysOfTheLaunchers)
      file.where[std::string(key)] = source_.where(place_of_key(root_, key));
    return file;
  }

 private:
  void fault(const Place& place, std::string_view message,
             ErrorCode code = ErrorCode::invalid_argument) {
    faults_.add(place, source_.error(place, message, code));
  }
  const YamlEntry* at(std::string_view key) const {
    const YamlEntry* entry = root_.find(key);
    return entry == nullptr || entry->value.kind == Kind::null ? nullptr : entry;
  }
  std::string text(std::string_view key) {
    const YamlEntry* entry = at(key);
    if (entry == nullptr) return "";
    if (entry->value.kind == Kind::scalar) return entry->value.text;
    fault(entry->value.place,
          fmt::format("'{}' must be a string, not {}", key, describe(entry->value.kind)));
    return "";
  }

  bool is_other_file() {
    for (const YamlEntry& entry : root_.entries) {
      if (is_one_of(kOtherActions, entry.key)) {
        fault(
            entry.place,
            fmt::format("'{}' is not supported yet; a schedule here has a 'create_job'", entry.key),
            ErrorCode::unsupported);
        return true;
      }
      if (!is_one_of(kKeysOfAJob, entry.key) || at(kCreateJob) != nullptr) continue;
      fault(entry.place,
            fmt::format("'{0}' is a key of a job file, but this must be a schedule; name the job's "
                        "file as its 'create_job', or submit it: lockstep job create -f {1}",
                        entry.key, source_.name));
      return true;
    }
    return false;
  }

  void check_key(const YamlEntry& entry, Notes& notes) {
    if (is_one_of(kKeysOfSchedules, entry.key)) return;
    if (is_one_of(kKeysWithoutEffect, entry.key)) {
      if (!is_empty(entry.value))
        notes.push_back(
            fmt::format("{}: '{}' has no effect", source_.where(entry.place), entry.key));
      return;
    }
    const std::string near = nearest(entry.key, kKeysOfSchedules);
    fault(entry.place, fmt::format("unknown key '{}'{}", entry.key,
                                   near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
  }

  void read_tags(JobSchedule& schedule) {
    const YamlEntry* tags = at("tags");
    if (tags == nullptr) return;
    if (tags->value.kind != Kind::mapping)
      return fault(tags->value.place, fmt::format("'tags' must be a mapping of keys to values, not "
                                                  "{}",
                                                  describe(tags->value.kind)));
    for (const YamlEntry& tag : tags->value.entries) {
      if (tag.value.kind == Kind::scalar)
        schedule.tags[tag.key] = tag.value.text;
      else
        fault(tag.place,
              fmt::format("'tags.{}' must be a string, not {}", tag.key, describe(tag.value.kind)));
    }
  }

  void read_enabled(JobSchedule& schedule) {
    const std::string word = lower_case(text("is_enabled"));
    if (word.empty() || word == "true") return;
    schedule.enabled = false;
    if (word != "false")
      fault(at("is_enabled")->value.place,
            fmt::format("'is_enabled': '{}' is neither true nor false", word));
  }

  void read_ours(JobSchedule& schedule) {
    const YamlEntry* ours = at("lockstep");
    if (ours == nullptr) return;
    if (ours->value.kind != Kind::mapping)
      return fault(ours->value.place,
                   fmt::format("'lockstep' must be a mapping of keys to values, not {}",
                               describe(ours->value.kind)));
    for (const YamlEntry& entry : ours->value.entries)
      if (!is_one_of(kOurKeys, entry.key))
        fault(entry.place,
              fmt::format("unknown key 'lockstep.{}'; there is 'lockstep.overlap'", entry.key));
    const YamlEntry* overlap = ours->value.find("overlap");
    if (overlap == nullptr || overlap->value.kind == Kind::null) return;
    const auto known = overlap->value.kind == Kind::scalar
                           ? overlap_from(lower_case(overlap->value.text))
                           : std::nullopt;
    if (known)
      schedule.overlap = *known;
    else
      fault(overlap->value.place, "'lockstep.overlap' must be allow, queue or forbid");
  }

  // What the trigger's reader does not check.
  void check_texts(const JobSchedule& schedule) {
    if (at("name") == nullptr) return fault(root_.place, "a schedule needs a 'name'");
    if (!faults_.empty()) return;
    if (const Status good = check(schedule); !good) {
      const std::string& why = good.error().message;
      fault(place_of_key(root_, why), fmt::format("'{}'{}", why.substr(0, why.find(':')),
                                                  why.substr(std::min(why.find(':'), why.size()))));
    }
  }

  void read_create_job(ScheduleFile& file) {
    const YamlEntry* create = at(kCreateJob);
    if (create == nullptr)
      return fault(root_.place,
                   "a schedule needs a 'create_job': the file of the job that it submits, or "
                   "azureml:NAME for a job that was submitted before");
    const YamlNode& node = create->value;
    if (node.kind != Kind::mapping)
      return fault(node.place,
                   fmt::format("'create_job' must be a job's file, azureml:NAME, or a mapping with "
                               "'job', not {}",
                               describe(node.kind)));
    const YamlEntry* job = node.find("job");
    if (job == nullptr || job->value.kind == Kind::null) return read_job_in_file(node, file);
    if (job->value.kind != Kind::scalar)
      return fault(job->value.place, fmt::format("'create_job.job' must be a file or azureml:NAME, "
                                                 "not {}",
                                                 describe(job->value.kind)));
    if (job->value.text.starts_with(kRegistered)) return copy_job(node, job->value, file);
    read_job_file(node, job->value, file);
  }

  void copy_job(const YamlNode& create, const YamlNode& job, ScheduleFile& file) {
    file.copy_of = JobId(registered_job(job.text));
    if (file.copy_of.value.empty())
      return fault(job.place,
                   fmt::format("'create_job': '{}' names no job; write azureml:NAME", job.text));
    for (const YamlEntry& entry : create.entries)
      if (entry.key != "job" && entry.key != "type" && !is_empty(entry.value))
        return fault(entry.place,
                     fmt::format("'create_job.{}': a job that was submitted before is submitted as "
                                 "it was; name the job's file instead of {} to change it",
                                 entry.key, job.text),
                     ErrorCode::unsupported);
  }

  // `create_job` is the job itself.
  void read_job_in_file(const YamlNode& create, ScheduleFile& file) {
    const bool is_a_job =
        std::any_of(create.entries.begin(), create.entries.end(), [](const YamlEntry& entry) {
          return is_one_of(kKeysOfAJob, entry.key) || entry.key == "component";
        });
    if (!is_a_job)
      return fault(create.place,
                   "'create_job' needs a 'job': the job's file, or azureml:NAME for a job that was "
                   "submitted before");
    read_with(source_.name, std::string(source_.text), create.place, file,
              [&](YamlNode& root) { root = create; });
  }

  void read_job_file(const YamlNode& create, const YamlNode& job, ScheduleFile& file) {
    const std::string path = source_.of(job.place).beside(without_file_scheme(job.text));
    const auto text = read_text_(path);
    if (!text)
      return fault(job.place, fmt::format("'create_job': {}", text.error().message),
                   text.error().code);
    read_with(path, *text, job.place, file, [&](YamlNode& root) {
      for (const YamlEntry& entry : create.entries) {
        if (entry.key == "job") continue;
        YamlEntry over = entry;
        set_source(over.value, source_);
        over.place.source = &source_;
        put(root, std::move(over));
      }
    });
  }

  void read_with(const std::string& name, const std::string& text, const Place& place,
                 ScheduleFile& file, const std::function<void(YamlNode& root)>& compose) {
    const FiringExpressions expressions(text);
    const auto change = [&](YamlNode& root, Faults&) {
      compose(root);
      take_name(root, file.notes);
      name_experiment(root, file.schedule.name);
      expressions.hide(root);
    };
    auto job = read_job_(name, text, change);
    if (!job) {
      faults_.add(place, make_error(job.error().code, expressions.shown(job.error().message)));
      return;
    }
    expressions.show(job->spec);
    file.notes.insert(file.notes.end(), job->notes.begin(), job->notes.end());
    file.job = *std::move(job);
  }

  // As on Azure: without another name it is the schedule's.
  static void name_experiment(YamlNode& job, const std::string& name) {
    if (name.empty() || job.find("experiment_name") != nullptr) return;
    YamlEntry experiment{"experiment_name", job.place, {}};
    experiment.value.kind = Kind::scalar;
    experiment.value.text = name;
    experiment.value.place = job.place;
    job.entries.push_back(std::move(experiment));
  }

  // Two jobs cannot have one name, so runs have names of their own.
  void take_name(YamlNode& job, Notes& notes) const {
    const YamlEntry* name = job.find("name");
    if (name == nullptr) return;
    if (name->value.kind == Kind::scalar)
      notes.push_back(
          fmt::format("the job's name '{}' has no effect: each run is named after the "
                      "schedule and its time",
                      name->value.text));
    std::erase_if(job.entries, [](const YamlEntry& entry) { return entry.key == "name"; });
  }

  const Source& source_;
  const YamlNode root_;
  const ReadText& read_text_;
  const ReadJobFile& read_job_;
  Faults& faults_;
};

Result<ScheduleFile> read_schedule(const std::string& name, std::string_view text,
                                   const std::vector<std::string>& overrides,
                                   const ReadText& read_text, const ReadJobFile& read_job) {
  const Source source{name,
                      without_mark(text),
                      "a schedule file",
                      "a 'name', a 'trigger' and a 'create_job'",
                      kMaxFileBytes,
                      kMaxJobNodes};
  Faults faults;
  TRY_ASSIGN(YamlNode root, parse_yaml(source));
  open_create_job(root);
  for (const auto& assignment : overrides) {
    Place place;
    place.override_text = assignment;
    faults.add(place, apply_override(root, assignment));
  }
  open_create_job(root);  // --set create_job=./other.yml
  ScheduleFile file =
      ScheduleFileReader(source, std::move(root), read_text, read_job, faults).read();
  TRY(faults.status());
  return file;
}

}  // namespace

Result<ScheduleFile> load_schedule(const std::string& path,
                                   const std::vector<std::string>& overrides,
                                   const ReadText& read_text, const FindComponent& find) {
  TRY_ASSIGN(const NamedText file, read_named_text(path, Bytes{kMaxFileBytes + 1}));
  return read_schedule(
      file.name, file.text, overrides, read_text,
      [&](const std::string& name, const std::string& text, const ChangeTree& change) {
        return load_job(NamedText{name, text}, {}, read_text, find, change);
      });
}

Result<ScheduleFile> parse_schedule(const std::string& name, std::string_view text,
                                    const std::vector<std::string>& overrides, ReadText read_text,
                                    const FindComponent& find) {
  if (!read_text)
    read_text = [](const std::string& path) -> Result<std::string> {
      return make_error(ErrorCode::not_found,
                        "file " + path + " was not sent with this schedule file");
    };
  return read_schedule(
      name, text, overrides, read_text,
      [&](const std::string& job_name, const std::string& job_text, const ChangeTree& change) {
        return parse_job(job_name, job_text, {}, read_text, find, change);
      });
}

Error with_place(const Error& error, const ScheduleFile& file) {
  const std::string key = error.message.substr(0, error.message.find(':'));
  const auto where = file.where.find(key);
  if (where == file.where.end()) return error;
  return make_error(
      error.code, fmt::format("{}: '{}'{}", where->second, key, error.message.substr(key.size())));
}

}  // namespace lockstep::spec
