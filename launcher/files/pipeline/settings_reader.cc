#include "launcher/files/pipeline/settings_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/nearest.h"
#include "common/base/quoted_name.h"
#include "common/domain/data/datastore.h"
#include "launcher/files/yaml/known_word.h"

namespace lockstep::spec {

namespace {

using Kind = YamlNode::Kind;

constexpr std::array<std::string_view, 6> kSettings = {
    "default_compute", "default_datastore", "continue_on_step_failure",
    "force_rerun",     "on_init",           "on_finalize"};

class SettingsReader {
 public:
  SettingsReader(const Source& source, bool is_outermost, Faults& faults, Notes& notes)
      : source_(source), is_outermost_(is_outermost), faults_(faults), notes_(notes) {}

  PipelineSettings read(const YamlNode& pipeline) {
    const YamlEntry* compute = pipeline.find("compute");
    if (compute != nullptr && compute->value.kind == Kind::scalar)
      settings_.compute = &compute->value;
    const YamlEntry* all = pipeline.find("settings");
    if (all == nullptr || all->value.kind == Kind::null) return settings_;
    if (all->value.kind != Kind::mapping) {
      fault(all->value, fmt::format("'settings' must be a mapping of keys to values, not {}",
                                    describe(all->value.kind)));
      return settings_;
    }
    for (const YamlEntry& entry : all->value.entries)
      if (entry.value.kind != Kind::null) read_one(entry);
    return settings_;
  }

 private:
  void fault(const YamlNode& node, const std::string& message) {
    faults_.add(node.place, source_.error(node.place, message));
  }
  void note(const Place& place, const std::string& message) {
    notes_.push_back(fmt::format("{}: {}", source_.where(place), message));
  }

  void read_one(const YamlEntry& entry) {
    const std::string& key = entry.key;
    const YamlNode& value = entry.value;
    const bool is_known = std::find(kSettings.begin(), kSettings.end(), key) != kSettings.end();
    if (!is_known) {
      const std::string near = nearest(key, kSettings);
      return note(entry.place,
                  fmt::format("'settings.{}' is not used{}", key,
                              near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
    }
    if (value.kind != Kind::scalar)
      return fault(value, fmt::format("'settings.{}' must be a single value, not {}", key,
                                      describe(value.kind)));
    if (key == "default_compute") settings_.compute = &value;
    if (key == "default_datastore") settings_.datastore = datastore(key, value);
    if (key == "force_rerun") settings_.force_rerun = flag(key, value);
    if (key == "continue_on_step_failure") {
      settings_.continue_on_step_failure = flag(key, value);
      if (!is_outermost_)
        note(entry.place, fmt::format("'settings.{}' is that of the outermost pipeline", key));
    }
    if (key == "on_init") settings_.on_init = step(key, value);
    if (key == "on_finalize") settings_.on_finalize = step(key, value);
  }

  bool flag(const std::string& key, const YamlNode& value) {
    const std::string word = lower_case(value.text);
    if (word != "true" && word != "false")
      fault(value, fmt::format("'settings.{}': '{}' is neither true nor false", key, value.text));
    return word == "true";
  }

  std::string datastore(const std::string& key, const YamlNode& value) {
    std::string_view name = value.text;
    for (const std::string_view before : {"azureml://datastores/", "azureml:"})
      if (name.starts_with(before)) name.remove_prefix(before.size());
    if (valid_datastore_name(name)) return std::string(name);
    fault(value, fmt::format("'settings.{}': {} is not a datastore's name: {}", key,
                             quoted_name(value.text), datastore_name_form()));
    return "";
  }

  // Reads a step's name; Azure's SDK writes "azureml:clean" for `clean`.
  std::optional<PipelineSettings::Named> step(const std::string& key, const YamlNode& value) {
    if (!is_outermost_) {
      fault(value, fmt::format("'settings.{}' is possible only in the outermost pipeline", key));
      return std::nullopt;
    }
    constexpr std::string_view kAzureml = "azureml:";
    std::string_view name = value.text;
    if (name.starts_with(kAzureml)) name.remove_prefix(kAzureml.size());
    return PipelineSettings::Named{std::string(name), value.place};
  }

  const Source& source_;
  const bool is_outermost_;
  Faults& faults_;
  Notes& notes_;
  PipelineSettings settings_;
};

}  // namespace

PipelineSettings read_settings(const Source& source, const YamlNode& pipeline, bool is_outermost,
                               Faults& faults, Notes& notes) {
  return SettingsReader(source, is_outermost, faults, notes).read(pipeline);
}

}  // namespace lockstep::spec
