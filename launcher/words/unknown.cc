#include "launcher/words/unknown.h"

#include <fmt/format.h>

#include "launcher/words/said.h"

namespace lockstep::words {

namespace {

struct ToText {
  std::string operator()(bool value) const { return value ? "yes" : "no"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return shown(value); }
  std::string operator()(Bytes value) const { return to_string(value); }
  std::string operator()(Duration value) const { return format_duration(value); }
  std::string operator()(Instant value) const { return to_string(value); }
  std::string operator()(const WhyList& value) const {
    std::string text;
    for (const WhyValue& item : value)
      text += (text.empty() ? "" : ", ") + std::visit(*this, item.value);
    return text;
  }
  std::string operator()(const WhyData& value) const {
    std::string fields;
    for (const WhyField& field : value.fields)
      fields += (fields.empty() ? "" : ", ") + shown(field.name) + " " +
                std::visit(*this, field.value.value);
    const std::string code = shown(value.code);
    if (fields.empty()) return code;
    return code.empty() ? fields : fmt::format("{} ({})", code, fields);
  }
};

}  // namespace

std::string say(const Unknown& reason) { return ToText{}(reason.data); }

}  // namespace lockstep::words
