#include "common/domain/why/all/convert.h"

#include <algorithm>
#include <map>
#include <optional>
#include <type_traits>

#include "common/base/ids.h"
#include "common/base/printable.h"
#include "common/domain/why/all/reason.h"

namespace lockstep {

namespace {

// ---- which kind a member is of ------------------------------------------------------------------

template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
// The alternatives of WhyValue that a member may have unchanged.
template <class T>
inline constexpr bool kIsPlain =
    std::is_same_v<T, bool> || std::is_same_v<T, double> || std::is_same_v<T, std::string> ||
    std::is_same_v<T, Bytes> || std::is_same_v<T, Duration> || std::is_same_v<T, Instant>;

// ---- writing ------------------------------------------------------------------------------------

template <class T>
WhyData record_of(const T& record, std::string_view code);

template <class T>
WhyValue value_of(const T& member) {
  if constexpr (kIsPlain<T>) {
    return {member};
  } else if constexpr (std::is_enum_v<T>) {
    return {std::string(to_string(member))};
  } else if constexpr (std::is_integral_v<T>) {
    return {static_cast<std::int64_t>(member)};
  } else if constexpr (std::is_same_v<T, JobId>) {
    return {member.value};
  } else if constexpr (std::is_same_v<T, NodeId>) {
    return {static_cast<std::int64_t>(member.value)};
  } else if constexpr (std::is_same_v<T, Why>) {
    return {to_data(member)};
  } else if constexpr (IsList<T>::value) {
    WhyList list;
    for (const auto& item : member) list.push_back(value_of(item));
    return {std::move(list)};
  } else {
    return {record_of(member, "")};
  }
}

struct Writer {
  WhyData& data;
  template <class T>
  void operator()(std::string_view name, const T& member) const {
    if constexpr (IsOptional<T>::value) {
      if (member) data.fields.push_back({std::string(name), value_of(*member)});
    } else {
      data.fields.push_back({std::string(name), value_of(member)});
    }
  }
};

template <class T>
WhyData record_of(const T& record, std::string_view code) {
  WhyData data;
  data.code = code;
  T::fields(record, Writer{data});
  return data;
}

// ---- reading ------------------------------------------------------------------------------------

// The results of reading a value, in order: of several values, the worst decides.
enum class Reading { yes, later_word, no };

template <class T>
Reading read_record(T& record, const WhyData& data);

template <class T>
Reading read_enum(T& member, const std::string& word) {
  for (int i = 0; i <= static_cast<int>(last_enumerator(T{})); ++i) {
    if (to_string(static_cast<T>(i)) != word) continue;
    member = static_cast<T>(i);
    return Reading::yes;
  }
  return Reading::later_word;
}

template <class T>
Reading read_value(T& member, const WhyValue& value);

template <class T>
Reading read_items(std::vector<T>& member, const WhyList& list) {
  member.clear();
  Reading worst = Reading::yes;
  for (const WhyValue& item : list) {
    T one{};
    worst = std::max(worst, read_value(one, item));
    member.push_back(std::move(one));
  }
  return worst;
}

Reading read_other(Why& member, const WhyData& data) {
  auto why = why_of(data);
  if (!why) return Reading::no;
  member = *std::move(why);
  return Reading::yes;
}

template <class T>
Reading read_value(T& member, const WhyValue& value) {
  if constexpr (kIsPlain<T>) {
    const T* found = std::get_if<T>(&value.value);
    if (found != nullptr) member = *found;
    return found != nullptr ? Reading::yes : Reading::no;
  } else if constexpr (std::is_enum_v<T>) {
    const auto* word = std::get_if<std::string>(&value.value);
    return word != nullptr ? read_enum(member, *word) : Reading::no;
  } else if constexpr (std::is_integral_v<T>) {
    const auto* number = std::get_if<std::int64_t>(&value.value);
    if (number == nullptr) return Reading::no;
    member = static_cast<T>(*number);
    return static_cast<std::int64_t>(member) == *number ? Reading::yes : Reading::no;
  } else if constexpr (std::is_same_v<T, JobId> || std::is_same_v<T, NodeId>) {
    return read_value(member.value, value);
  } else if constexpr (IsList<T>::value) {
    const auto* list = std::get_if<WhyList>(&value.value);
    return list != nullptr ? read_items(member, *list) : Reading::no;
  } else {
    const auto* data = std::get_if<WhyData>(&value.value);
    if (data == nullptr) return Reading::no;
    if constexpr (std::is_same_v<T, Why>)
      return read_other(member, *data);
    else
      return read_record(member, *data);
  }
}

struct Reader {
  const WhyData& data;
  Reading worst = Reading::yes;
  std::string_view where;  // name of the first field that does not fit
  template <class T>
  void operator()(std::string_view name, T& member) {
    const auto found = std::find_if(data.fields.begin(), data.fields.end(),
                                    [&](const auto& field) { return field.name == name; });
    if (found == data.fields.end()) return;
    Reading reading{};
    if constexpr (IsOptional<T>::value)
      reading = read_value(member.emplace(), found->value);
    else
      reading = read_value(member, found->value);
    if (reading <= worst) return;
    worst = reading;
    where = name;
  }
};

template <class T>
Reading read_record(T& record, const WhyData& data) {
  Reader reader{data, Reading::yes, {}};
  T::fields(record, reader);
  return reader.worst;
}

template <class R>
Result<Why> read_known(const WhyData& data) {
  R reason;
  Reader reader{data, Reading::yes, {}};
  if constexpr (!std::is_same_v<R, Unknown>) R::fields(reason, reader);
  if (reader.worst == Reading::no)
    return make_error(ErrorCode::corrupt, "the reason " + data.code + " has a field '" +
                                              std::string(reader.where) + "' of another kind");
  if (reader.worst == Reading::later_word) return Why(Unknown{data});
  return Why(std::move(reason));
}

Result<Why> read_reason(const WhyData& data) {
  static const auto readers = [] {
    std::map<std::string_view, Result<Why> (*)(const WhyData&)> all;
    each_group([&]<class... R>(List<R...>) { (all.emplace(R::kCode, &read_known<R>), ...); });
    all.erase(Unknown::kCode);
    return all;
  }();
  const auto known = readers.find(data.code);
  return known == readers.end() ? Why(Unknown{data}) : known->second(data);
}

// ---- for logs -----------------------------------------------------------------------------------

struct LogText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return std::to_string(value); }
  std::string operator()(const std::string& value) const { return '"' + in_one_line(value) + '"'; }
  std::string operator()(Bytes value) const { return std::to_string(value.count) + "B"; }
  std::string operator()(Duration value) const { return format_duration(value); }
  std::string operator()(Instant value) const { return to_string(value); }
  std::string operator()(const WhyList& value) const {
    std::string text;
    for (const WhyValue& item : value)
      text += (text.empty() ? "" : " ") + std::visit(*this, item.value);
    return '[' + text + ']';
  }
  // Writes a value; a record or another reason is written in parentheses.
  std::string operator()(const WhyData& value) const {
    std::string text = value.code;
    for (const WhyField& field : value.fields) {
      const bool is_record = std::holds_alternative<WhyData>(field.value.value);
      const std::string shown = std::visit(*this, field.value.value);
      text +=
          (text.empty() ? "" : " ") + field.name + '=' + (is_record ? '(' + shown + ')' : shown);
    }
    return text;
  }
};

}  // namespace

WhyData to_data(const Why& why) {
  if (!why) return {};
  return visit_reason(
      []<class R>(const R& reason) {
        if constexpr (std::is_same_v<R, Unknown>)
          return reason.data;
        else
          return record_of(reason, R::kCode);
      },
      *why.get());
}

Result<Why> why_of(const WhyData& data) {
  if (data.code.empty()) return Why();
  return read_reason(data);
}

std::string log_text(const Why& why) {
  if (const Told* told = why.as<Told>()) return told->text;
  return LogText{}(to_data(why));
}

std::vector<std::string_view> all_reason_codes() {
  std::vector<std::string_view> codes;
  each_group([&]<class... R>(List<R...>) { (codes.push_back(R::kCode), ...); });
  std::erase(codes, Unknown::kCode);
  return codes;
}

}  // namespace lockstep
