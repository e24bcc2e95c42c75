#include "launcher/files/targets/instance_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "common/base/nearest.h"
#include "common/io/file_system.h"
#include "launcher/files/yaml/parsed.h"
#include "launcher/files/yaml/shapes.h"

namespace lockstep::spec {
namespace {

using Kind = YamlNode::Kind;
using Keys = std::span<const std::string_view>;

constexpr std::string_view kIdle = "idle_time_before_shutdown";
constexpr std::string_view kIdleMinutes = "idle_time_before_shutdown_minutes";
constexpr std::string_view kSchedules = "schedules";
constexpr std::array kKeys{kIdle, kIdleMinutes, kSchedules};

constexpr std::array<std::string_view, 1> kKeysOfSchedules{"compute_start_stop"};
constexpr std::array<std::string_view, 3> kKeysOfSchedule{"action", "state", "trigger"};
constexpr std::array<std::string_view, 8> kKeysOfTrigger{"type",     "expression", "frequency",
                                                         "interval", "schedule",   "start_time",
                                                         "end_time", "time_zone"};
constexpr std::array<std::string_view, 4> kKeysOfTimes{"hours", "minutes", "week_days",
                                                       "month_days"};

const YamlEntry* at(const YamlNode& mapping, std::string_view key) {
  const YamlEntry* entry = mapping.find(key);
  return entry == nullptr || entry->value.kind == Kind::null ? nullptr : entry;
}

// Sets the time; returns the fault of the value, or "".
std::string take_idle_time(std::string_view key, const std::string& text, ComputeSpec& spec) {
  const bool is_minutes = key == kIdleMinutes;
  const auto count = to_whole_number(text);
  Duration time = parse_iso_duration(text);
  if (is_minutes) time = count && *count >= 0 ? minutes(*count) : Duration(-1);
  if (time < Duration::zero() || time > kMaxIdleTime)
    return is_minutes ? fmt::format("'{}' is not a number of minutes from 0 (never) to 43200", text)
                      : fmt::format(
                            "'{}' is not a time of at most 30 days; write PT30M or 30m, or 0 "
                            "for never",
                            text);
  spec.instance.idle_time = time;
  return "";
}

class ScheduleReader {
 public:
  ScheduleReader(const Source& source, Faults& faults) : source_(source), faults_(faults) {}

  void read(const YamlEntry& schedules, std::vector<InstanceSchedule>& into) {
    if (!is_mapping(schedules.value, std::string(kSchedules), kKeysOfSchedules)) return;
    const YamlEntry* list = at(schedules.value, kKeysOfSchedules[0]);
    if (list == nullptr) return;
    if (list->value.kind != Kind::sequence)
      return fault(list->value.place,
                   fmt::format("'schedules.compute_start_stop' must be a list, not {}",
                               describe(list->value.kind)));
    for (std::size_t i = 0; i < list->value.items.size(); ++i) {
      InstanceSchedule schedule;
      if (read_one(list->value.items[i], schedule_path(i), schedule))
        into.push_back(std::move(schedule));
    }
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

  // Reads a text. Empty: missing, or not a text (which is reported).
  std::string text(const YamlNode& mapping, const std::string& path, std::string_view key) {
    const YamlEntry* entry = at(mapping, key);
    if (entry == nullptr) return "";
    if (entry->value.kind == Kind::scalar) return entry->value.text;
    fault(entry->value.place,
          fmt::format("'{}.{}' must be a value, not {}", path, key, describe(entry->value.kind)));
    return "";
  }
  void refuse(const YamlNode& mapping, const std::string& path, std::string_view key,
              std::string_view why) {
    if (const YamlEntry* entry = at(mapping, key))
      fault(entry->place, fmt::format("'{}.{}' {}; leave it out", path, key, why));
  }

  // Reads one schedule. True: it has no errors.
  bool read_one(const YamlNode& node, const std::string& path, InstanceSchedule& into) {
    is_good_ = true;
    if (!is_mapping(node, path, kKeysOfSchedule)) return false;
    const std::string action = text(node, path, "action"), state = text(node, path, "state");
    if (action == "start" || action == "stop")
      into.action = action == "start" ? InstanceAction::start : InstanceAction::stop;
    else
      fault(place_of(node, "action"), fmt::format("'{}.action' must be start or stop", path));
    if (!state.empty() && state != "enabled" && state != "disabled")
      fault(place_of(node, "state"),
            fmt::format("'{}.state': '{}' is not enabled or disabled", path, state));
    into.enabled = state != "disabled";
    const YamlEntry* trigger = at(node, "trigger");
    if (trigger == nullptr)
      fault(node.place, fmt::format("'{}' needs a 'trigger' of type cron or recurrence", path));
    else
      read_trigger(trigger->value, path + ".trigger", into);
    return is_good_;
  }

  void read_trigger(const YamlNode& node, const std::string& path, InstanceSchedule& schedule) {
    if (!is_mapping(node, path, kKeysOfTrigger)) return;
    const std::string type = text(node, path, "type");
    if (type == "cron")
      read_cron(node, path, schedule.trigger);
    else if (type == "recurrence")
      read_recurrence(node, path, schedule.trigger);
    else
      return fault(place_of(node, "type"),
                   fmt::format("'{}.type' must be cron or recurrence", path));
    schedule.trigger.time_zone = text(node, path, "time_zone");
    read_time(node, path, "start_time", schedule.trigger.start_time);
    read_time(node, path, "end_time", schedule.trigger.end_time);
    if (const Status good = check(schedule); !good && is_good_)
      fault(place_of_error(node, good.error().message),
            fmt::format("'{}", path.substr(0, path.size() - 7)) + quoted_key(good.error().message));
  }

  void read_cron(const YamlNode& node, const std::string& path, Trigger& trigger) {
    trigger.when = CronTrigger{text(node, path, "expression")};
    for (const char* key : {"frequency", "interval", "schedule"})
      refuse(node, path, key, "is of a trigger of type recurrence");
  }

  void read_recurrence(const YamlNode& node, const std::string& path, Trigger& trigger) {
    refuse(node, path, "expression", "is of a trigger of type cron");
    Recurrence recurrence;
    const auto frequency = frequency_from(text(node, path, "frequency"));
    if (frequency)
      recurrence.frequency = *frequency;
    else
      fault(place_of(node, "frequency"),
            fmt::format("'{}.frequency' must be minute, hour, day, week or month", path));
    if (const std::string interval = text(node, path, "interval"); !interval.empty()) {
      const auto number = to_whole_number(interval);
      recurrence.interval = number.value_or(0);
    }
    if (const YamlEntry* times = at(node, "schedule"))
      read_times(times->value, path + ".schedule", recurrence);
    trigger.when = std::move(recurrence);
  }

  void read_times(const YamlNode& node, const std::string& path, Recurrence& recurrence) {
    if (!is_mapping(node, path, kKeysOfTimes)) return;
    read_list(node, path, "hours", to_whole_number, recurrence.hours);
    read_list(node, path, "minutes", to_whole_number, recurrence.minutes);
    read_list(node, path, "week_days", week_day_from, recurrence.week_days);
    read_list(node, path, "month_days", to_whole_number, recurrence.month_days);
  }

  // Reads a list of values, or one value.
  template <typename Parse>
  void read_list(const YamlNode& node, const std::string& path, std::string_view key,
                 const Parse& parse, std::vector<int>& into) {
    const YamlEntry* entry = at(node, key);
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

  void read_time(const YamlNode& node, const std::string& path, std::string_view key,
                 std::optional<LocalTime>& into) {
    const std::string written = text(node, path, key);
    if (written.empty()) return;
    const auto time = parse_local_time(written);
    if (time)
      into = *time;
    else
      fault(place_of(node, key), fmt::format("'{}.{}': {}", path, key, time.error().message));
  }

  static Place place_of(const YamlNode& node, std::string_view key) {
    const YamlEntry* entry = at(node, key);
    return entry == nullptr ? node.place : entry->value.place;
  }
  // The place of an error. Errors of the domain's checks name the key: "trigger.schedule.hours: …".
  static Place place_of_error(const YamlNode& trigger, std::string_view message) {
    std::string_view path = message.substr(0, message.find(':'));
    const YamlNode* node = &trigger;
    Place place = trigger.place;
    for (auto dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
      path.remove_prefix(dot + 1);
      const YamlEntry* entry = at(*node, path.substr(0, path.find('.')));
      if (entry == nullptr) break;
      node = &entry->value;
      place = node->place;
    }
    return place;
  }
  // "trigger.interval: 0 is …" becomes "trigger.interval': 0 is …".
  static std::string quoted_key(const std::string& message) {
    const auto colon = message.find(':');
    return message.substr(0, colon) + "'" + message.substr(colon);
  }

  const Source& source_;
  Faults& faults_;
  bool is_good_ = true;
};

}  // namespace

void read_instance(const Source& source, const YamlNode& root, ComputeSpec& spec, Faults& faults) {
  const auto fault = [&](const Place& place, const std::string& message) {
    faults.add(place, source.error(place, message));
  };
  for (const std::string_view key : kKeys) {
    const YamlEntry* entry = at(root, key);
    if (entry == nullptr) continue;
    if (!is_instance(spec)) {
      fault(entry->place,
            fmt::format("'{}' is of a target of type computeinstance; leave it out", key));
    } else if (key == kSchedules) {
      ScheduleReader(source, faults).read(*entry, spec.instance.schedules);
    } else if (entry->value.kind != Kind::scalar) {
      fault(entry->value.place,
            fmt::format("'{}' must be a value, not {}", key, describe(entry->value.kind)));
    } else if (const std::string wrong = take_idle_time(key, entry->value.text, spec);
               !wrong.empty()) {
      fault(entry->value.place, fmt::format("'{}': {}", key, wrong));
    }
  }
  const YamlEntry* both = at(root, kIdleMinutes);
  if (both != nullptr && at(root, kIdle) != nullptr)
    fault(both->place,
          fmt::format("both '{}' and '{}' are given; leave one out", kIdle, kIdleMinutes));
}

std::optional<std::string> assign_to_instance(std::string_view key, const std::string& text,
                                              ComputeSpec& spec) {
  if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) return std::nullopt;
  if (!is_instance(spec)) return "is of a target of type computeinstance";
  if (key != kSchedules) return take_idle_time(key, text, spec);
  // Read like a file that only has this key.
  const Source source{std::string(kSchedules), ""};
  YamlNode root;
  root.kind = Kind::mapping;
  if (const Status good = apply_override(root, fmt::format("{}={}", kSchedules, text)); !good)
    return good.error().message;
  std::vector<InstanceSchedule> schedules;
  Faults faults;
  if (const YamlEntry* entry = at(root, kSchedules))
    ScheduleReader(source, faults).read(*entry, schedules);
  if (const Status good = faults.status(); !good) return good.error().message;
  spec.instance.schedules = std::move(schedules);
  return "";
}

Error with_place_in(const std::string& file, Error error) {
  std::string_view path = error.message;
  path = path.substr(0, path.find(':'));
  if (!path.starts_with(kSchedules)) return error;
  const auto text = io::read_file(file, Bytes{kMaxFileBytes});
  if (!text) return error;
  const Source source{file, without_mark(*text)};
  const auto root = parse_yaml(source);
  if (!root) return error;
  const YamlNode* node = &*root;
  for (std::size_t from = 0; from < path.size();) {
    const auto end = std::min(path.find_first_of(".[]", from), path.size());
    const std::string key(path.substr(from, end - from));
    from = end + 1;
    if (key.empty()) continue;  // nothing is between ']' and '.'
    const auto index = to_whole_number(key);
    if (node->kind == Kind::sequence) {
      if (!index || static_cast<std::size_t>(*index) >= node->items.size()) return error;
      node = &node->items[static_cast<std::size_t>(*index)];
    } else {
      const YamlEntry* entry = at(*node, key);
      if (entry == nullptr) return error;
      node = &entry->value;
    }
  }
  return source.error(node->place, error.message, error.code);
}

std::string to_iso(Duration time) {
  const auto total = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  const auto part = [](std::int64_t count, char unit) {
    return count == 0 ? std::string() : fmt::format("{}{}", count, unit);
  };
  const std::string text =
      part(total / 3600, 'H') + part(total / 60 % 60, 'M') + part(total % 60, 'S');
  return "PT" + (text.empty() ? "0S" : text);
}

Duration parse_iso_duration(const std::string& text) {
  if (!text.starts_with('P')) return parse_duration(text);
  std::string_view rest = std::string_view(text).substr(1);
  Duration sum{};
  bool is_time = false, has_part = false;
  constexpr std::int64_t kMost = 1'000'000;
  while (!rest.empty()) {
    if (rest[0] == 'T' && !is_time) {
      is_time = true;
      has_part = false;  // another part must follow
      rest.remove_prefix(1);
      continue;
    }
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
    const auto length = static_cast<std::size_t>(end - rest.data());
    if (error != std::errc() || length == rest.size() || count < 0 || count > kMost)
      return Duration(-1);
    const char unit = rest[length];
    if (!is_time && unit == 'D')
      sum += count * std::chrono::hours(24);
    else if (!is_time && unit == 'W')
      sum += count * std::chrono::hours(24 * 7);
    else if (is_time && unit == 'H')
      sum += count * std::chrono::hours(1);
    else if (is_time && unit == 'M')
      sum += count * minutes(1);
    else if (is_time && unit == 'S')
      sum += count * seconds(1);
    else
      return Duration(-1);
    has_part = true;
    rest.remove_prefix(length + 1);
  }
  return has_part ? sum : Duration(-1);
}

}  // namespace lockstep::spec
