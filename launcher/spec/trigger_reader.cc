#include "launcher/spec/trigger_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "common/base/nearest.h"
#include "launcher/spec/job_shapes.h"
#include "launcher/spec/known_word.h"

namespace lockstep::spec {
namespace {

using Kind = YamlNode::Kind;
using Keys = std::span<const std::string_view>;

constexpr std::string_view kTrigger = "trigger";
constexpr std::array<std::string_view, 8> kKeysOfTrigger{"type",     "expression", "frequency",
                                                         "interval", "schedule",   "start_time",
                                                         "end_time", "time_zone"};
constexpr std::array<std::string_view, 4> kKeysOfTimes{"hours", "minutes", "week_days",
                                                       "month_days"};

const YamlEntry* given(const YamlNode& mapping, std::string_view key) {
  const YamlEntry* entry = mapping.find(key);
  return entry == nullptr || entry->value.kind == Kind::null ? nullptr : entry;
}

Place place_of_value(const YamlNode& mapping, std::string_view key) {
  const YamlEntry* entry = given(mapping, key);
  return entry == nullptr ? mapping.place : entry->value.place;
}

class TriggerReader {
 public:
  TriggerReader(const Source& source, const YamlNode& node, std::string path, Faults& faults)
      : source_(source), node_(node), path_(std::move(path)), faults_(faults) {}

  bool read(Trigger& trigger) {
    if (!is_mapping(node_, path_, kKeysOfTrigger)) return false;
    const std::string type = lower_case(text("type"));
    if (type == "cron") {
      read_cron(trigger);
    } else if (type == "recurrence") {
      read_recurrence(trigger);
    } else {
      fault(place_of_value(node_, "type"),
            fmt::format("'{}.type' must be cron or recurrence", path_));
      return false;
    }
    trigger.time_zone = text("time_zone");
    read_time("start_time", trigger.start_time);
    read_time("end_time", trigger.end_time);
    if (!is_good_) return false;
    if (const Status good = check(trigger); !good) {
      // "trigger.interval: 0 is …" of the domain.
      const std::string& message = good.error().message;
      const auto colon = message.find(':');
      const std::string_view key = std::string_view(message).substr(0, colon);
      fault(place_in_trigger(key),
            fmt::format("'{}{}'{}", path_, key.substr(kTrigger.size()), message.substr(colon)));
    }
    return is_good_;
  }

 private:
  void fault(const Place& place, const std::string& message) {
    faults_.add(place, source_.error(place, message));
    is_good_ = false;
  }

  bool is_mapping(const YamlNode& node, const std::string& path, Keys keys) {
    if (node.kind != Kind::mapping) {
      fault(node.place, fmt::format("'{}' must be a mapping of keys to values, not {}", path,
                                    describe(node.kind)));
      return false;
    }
    for (const YamlEntry& entry : node.entries) {
      if (std::find(keys.begin(), keys.end(), entry.key) != keys.end()) continue;
      const std::string near = nearest(entry.key, keys);
      fault(entry.place,
            fmt::format("unknown key '{}.{}'; {}", path, entry.key,
                        near.empty() ? fmt::format("there are {}", fmt::join(keys, ", "))
                                     : fmt::format("did you mean '{}'?", near)));
    }
    return true;
  }

  // Empty: there is none, or it is no value (which is a fault).
  std::string text(std::string_view key) {
    const YamlEntry* entry = given(node_, key);
    if (entry == nullptr) return "";
    if (entry->value.kind == Kind::scalar) return entry->value.text;
    fault(entry->value.place,
          fmt::format("'{}.{}' must be a value, not {}", path_, key, describe(entry->value.kind)));
    return "";
  }
  void refuse(std::string_view key, std::string_view why) {
    if (const YamlEntry* entry = given(node_, key))
      fault(entry->place, fmt::format("'{}.{}' {}; leave it out", path_, key, why));
  }

  void read_cron(Trigger& trigger) {
    trigger.when = CronTrigger{text("expression")};
    for (const char* key : {"frequency", "interval", "schedule"})
      refuse(key, "is of a trigger of type recurrence");
  }

  void read_recurrence(Trigger& trigger) {
    refuse("expression", "is of a trigger of type cron");
    Recurrence recurrence;
    const auto frequency = frequency_from(lower_case(text("frequency")));
    if (frequency)
      recurrence.frequency = *frequency;
    else
      fault(place_of_value(node_, "frequency"),
            fmt::format("'{}.frequency' must be minute, hour, day, week or month", path_));
    if (const std::string interval = text("interval"); !interval.empty())
      recurrence.interval = to_whole_number(interval).value_or(0);
    if (const YamlEntry* times = given(node_, "schedule"))
      read_times(times->value, path_ + ".schedule", recurrence);
    trigger.when = std::move(recurrence);
  }

  void read_times(const YamlNode& node, const std::string& path, Recurrence& recurrence) {
    if (!is_mapping(node, path, kKeysOfTimes)) return;
    read_list(node, path, "hours", to_whole_number, recurrence.hours);
    read_list(node, path, "minutes", to_whole_number, recurrence.minutes);
    read_list(node, path, "week_days", week_day_from, recurrence.week_days);
    read_list(node, path, "month_days", to_whole_number, recurrence.month_days);
  }

  // A list of values, or one value.
  template <typename Parse>
  void read_list(const YamlNode& node, const std::string& path, std::string_view key,
                 const Parse& parse, std::vector<int>& into) {
    const YamlEntry* entry = given(node, key);
    if (entry == nullptr) return;
    std::vector<YamlNode> items{entry->value};
    if (entry->value.kind == Kind::sequence) items = entry->value.items;
    for (const YamlNode& item : items) {
      const auto value = item.kind == Kind::scalar ? parse(item.text) : std::nullopt;
      if (value)
        into.push_back(*value);
      else
        fault(item.place, key == "week_days"
                              ? fmt::format("'{}.{}' must be days such as monday", path, key)
                              : fmt::format("'{}.{}' must be whole numbers", path, key));
    }
  }

  void read_time(std::string_view key, std::optional<LocalTime>& into) {
    const std::string written = text(key);
    if (written.empty()) return;
    const auto time = parse_local_time(written);
    if (time)
      into = *time;
    else
      fault(place_of_value(node_, key),
            fmt::format("'{}.{}': {}", path_, key, time.error().message));
  }

  // `key`: "trigger.schedule.hours".
  Place place_in_trigger(std::string_view key) const {
    if (key.size() <= kTrigger.size()) return node_.place;
    return place_of_key(node_, key.substr(kTrigger.size() + 1));
  }

  const Source& source_;
  const YamlNode& node_;
  const std::string path_;
  Faults& faults_;
  bool is_good_ = true;
};

}  // namespace

bool read_trigger(const Source& source, const YamlNode& node, const std::string& path,
                  Faults& faults, Trigger& into) {
  return TriggerReader(source, node, path, faults).read(into);
}

Place place_of_key(const YamlNode& mapping, std::string_view message) {
  std::string_view path = message.substr(0, message.find(':'));
  const YamlNode* node = &mapping;
  Place place = mapping.place;
  while (!path.empty()) {
    const auto dot = std::min(path.find('.'), path.size());
    const YamlEntry* entry = given(*node, path.substr(0, dot));
    if (entry == nullptr) break;
    node = &entry->value;
    place = node->place;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return place;
}

}  // namespace lockstep::spec
