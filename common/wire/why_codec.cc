#include "common/wire/why_codec.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/domain/why/all/convert.h"
#include "common/domain/why/why.h"

namespace lockstep::pb {

namespace {

// The rest of the bounds of one reason.
struct Room {
  int depth = lockstep::kMostWhyDepth;
  std::size_t values = lockstep::kMostWhyValues;
  std::size_t bytes = lockstep::kMostWhyBytes;

  Status take(std::size_t size) {
    if (values == 0 || size > bytes) return bad_field("why", "is too large");
    --values;
    bytes -= size;
    return {};
  }
};

// ---- keeping the bounds -------------------------------------------------------------------------

bool fits(const lockstep::WhyData& data, Room& room);

struct ValueFits {
  Room& room;
  bool operator()(const std::string& value) const {
    return room.take(fitting_text(value).size()).has_value();
  }
  bool operator()(const lockstep::WhyList& value) const {
    if (room.depth == 0) return false;
    --room.depth;
    const bool all = std::all_of(value.begin(), value.end(), [&](const auto& item) {
      return room.take(0) && std::visit(*this, item.value);
    });
    ++room.depth;
    return all;
  }
  bool operator()(const lockstep::WhyData& value) const {
    if (room.depth == 0) return false;
    --room.depth;
    const bool all = fits(value, room);
    ++room.depth;
    return all;
  }
  template <class T>
  bool operator()(const T&) const {
    return true;
  }
};

bool fits(const lockstep::WhyData& data, Room& room) {
  return room.take(data.code.size()) &&
         std::all_of(data.fields.begin(), data.fields.end(), [&](const auto& field) {
           return room.take(field.name.size()) && room.take(0) &&
                  std::visit(ValueFits{room}, field.value.value);
         });
}

bool fits(const lockstep::WhyData& data) {
  Room room;
  return fits(data, room);
}

void cut_lists(lockstep::WhyData& data, std::size_t most);
void cut_lists(lockstep::WhyValue& value, std::size_t most) {
  if (auto* list = std::get_if<lockstep::WhyList>(&value.value)) {
    if (list->size() > most) list->resize(most);
    for (auto& item : *list) cut_lists(item, most);
  } else if (auto* data = std::get_if<lockstep::WhyData>(&value.value)) {
    cut_lists(*data, most);
  }
}
void cut_lists(lockstep::WhyData& data, std::size_t most) {
  for (auto& field : data.fields) cut_lists(field.value, most);
}

bool is_single(const lockstep::WhyField& field) {
  return !std::holds_alternative<lockstep::WhyList>(field.value.value) &&
         !std::holds_alternative<lockstep::WhyData>(field.value.value);
}

// The most that a list keeps, in the order in which they are tried.
constexpr std::size_t kShortLists[] = {64, 16, 4, 1};

lockstep::WhyData fitting(lockstep::WhyData data) {
  for (const std::size_t most : kShortLists) {
    if (fits(data)) return data;
    cut_lists(data, most);
  }
  if (!fits(data)) std::erase_if(data.fields, [](const auto& field) { return !is_single(field); });
  if (!fits(data)) data.fields.clear();
  return data;
}

// ---- writing ------------------------------------------------------------------------------------

void write_data(const lockstep::WhyData& from, Why* to);

struct ValueWriter {
  WhyValue* to;
  void operator()(bool value) const { to->set_flag(value); }
  void operator()(std::int64_t value) const { to->set_number(value); }
  void operator()(double value) const { to->set_real(value); }
  void operator()(const std::string& value) const { to->set_text(fitting_text(value)); }
  void operator()(Bytes value) const { to->set_size_bytes(value.count); }
  void operator()(Duration value) const { to->set_duration_ns(value.count()); }
  void operator()(Instant value) const { to->set_time_ns(value.ns); }
  void operator()(const lockstep::WhyList& value) const {
    WhyList* list = to->mutable_list();
    for (const auto& item : value) std::visit(ValueWriter{list->add_values()}, item.value);
  }
  void operator()(const lockstep::WhyData& value) const { write_data(value, to->mutable_record()); }
};

void write_data(const lockstep::WhyData& from, Why* to) {
  to->set_code(from.code);
  for (const auto& field : from.fields) {
    WhyField* one = to->add_fields();
    one->set_name(field.name);
    std::visit(ValueWriter{one->mutable_value()}, field.value.value);
  }
}

// ---- reading ------------------------------------------------------------------------------------

Status read_data(const Why& from, Room& room, lockstep::WhyData* to);

Status read_value(const WhyValue& from, Room& room, lockstep::WhyValue* to) {
  TRY(room.take(0));
  switch (from.kind_case()) {
    case WhyValue::kFlag: to->value = from.flag(); return {};
    case WhyValue::kNumber: to->value = std::int64_t{from.number()}; return {};
    case WhyValue::kReal: to->value = from.real(); return {};
    case WhyValue::kText: {
      std::string text;
      TRY(read_text(from.text(), "why.text", &text));
      TRY(room.take(text.size()));
      to->value = std::move(text);
      return {};
    }
    case WhyValue::kSizeBytes: to->value = Bytes{from.size_bytes()}; return {};
    case WhyValue::kDurationNs: to->value = Duration(from.duration_ns()); return {};
    case WhyValue::kTimeNs: {
      Instant time;
      TRY(read_instant(from.time_ns(), "why.time", &time));
      to->value = time;
      return {};
    }
    case WhyValue::kList: {
      if (room.depth == 0) return bad_field("why", "is too deep");
      --room.depth;
      lockstep::WhyList list;
      for (const auto& item : from.list().values())
        TRY(read_value(item, room, &list.emplace_back()));
      ++room.depth;
      to->value = std::move(list);
      return {};
    }
    case WhyValue::kRecord: {
      if (room.depth == 0) return bad_field("why", "is too deep");
      --room.depth;
      lockstep::WhyData data;
      TRY(read_data(from.record(), room, &data));
      ++room.depth;
      to->value = std::move(data);
      return {};
    }
    case WhyValue::KIND_NOT_SET: break;
  }
  return bad_field("why", "has a value of an unknown kind");
}

Status read_data(const Why& from, Room& room, lockstep::WhyData* to) {
  TRY(room.take(from.code().size()));
  to->code = from.code();
  for (const auto& field : from.fields()) {
    TRY(room.take(field.name().size()));
    auto& one = to->fields.emplace_back();
    one.name = field.name();
    TRY(read_value(field.value(), room, &one.value));
  }
  return {};
}

}  // namespace

void to_wire(const lockstep::Why& from, Why* to) {
  write_data(fitting(lockstep::to_data(from)), to);
}

Status from_wire(const Why& from, lockstep::Why* to) {
  Room room;
  lockstep::WhyData data;
  TRY(read_data(from, room, &data));
  auto why = lockstep::why_of(data);
  if (!why) return bad_field("why", why.error().message);
  *to = *std::move(why);
  return {};
}

const std::string* told_text(const lockstep::Why& why) {
  const Told* told = why.as<Told>();
  return told == nullptr ? nullptr : &told->text;
}

void write_whys(const std::vector<lockstep::Why>& from, TextList* texts, WhyDataList* data) {
  const bool is_told = std::all_of(from.begin(), from.end(), told_text);
  if (!is_told) return write_list(from, data);
  for (const lockstep::Why& why : from) texts->Add(fitting_text(*told_text(why)));
}

Status read_why(const std::string& text, bool has_data, const Why& data, const char* field,
                lockstep::Why* to) {
  if (has_data) return from_wire(data, to);
  std::string read;
  TRY(read_text(text, field, &read));
  *to = told(std::move(read));
  return {};
}

Status read_whys(const TextList& texts, const WhyDataList& data, std::size_t max_count,
                 const char* field, std::vector<lockstep::Why>* to) {
  if (!data.empty()) {
    TRY(read_list(data, max_count, field, to));
  } else {
    std::vector<std::string> read;
    TRY(read_texts(texts, max_count, field, &read));
    for (std::string& text : read) to->push_back(told(std::move(text)));
  }
  std::erase(*to, lockstep::Why());
  return {};
}

}  // namespace lockstep::pb
