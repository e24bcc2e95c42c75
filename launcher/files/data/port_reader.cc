#include "launcher/files/data/port_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "common/base/nearest.h"
#include "common/base/quoted_name.h"
#include "launcher/files/data/input_reader.h"
#include "launcher/files/yaml/known_word.h"
#include "launcher/files/yaml/literal_text.h"
#include "launcher/files/yaml/shapes.h"

namespace lockstep::spec {

namespace {

constexpr std::array kLiterals = {LiteralType::string, LiteralType::number, LiteralType::integer,
                                  LiteralType::boolean};
constexpr std::string_view kAllTypes =
    "string, number, integer, boolean, uri_folder, uri_file, mltable, mlflow_model, custom_model "
    "or triton_model";

std::optional<double> to_number(const std::string& text) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0])) != 0) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size() || std::isnan(value)) return std::nullopt;
  return value;
}

// Whether a text is an integer: 3 and -3, and 3.0 as Azure's SDK writes it.
bool is_integer(const std::string& text) {
  const auto value = to_number(text);
  return value && std::floor(*value) == *value && text.find_first_of("eExXnN") == std::string::npos;
}

// Whether a text is a boolean; Azure's SDK writes 1 for True.
bool is_boolean(const std::string& text) {
  const std::string word = lower_case(text);
  return word == "true" || word == "false" || word == "1" || word == "0";
}

bool is_true(const std::string& text) { return lower_case(text) == "true" || text == "1"; }

bool is_of_type(LiteralType type, const std::string& text) {
  switch (type) {
    case LiteralType::string: return true;
    case LiteralType::number: return to_number(text).has_value();
    case LiteralType::integer: return is_integer(text);
    case LiteralType::boolean: return is_boolean(text);
  }
  return false;
}

// The text that azure-ai-ml writes: a default follows the type, a value that is given stays as it
// is.
std::string default_text(LiteralType type, const YamlNode& scalar, bool is_one_of_several) {
  const std::string text = literal_text(scalar);
  switch (type) {
    case LiteralType::number: return python_float(text);
    case LiteralType::string:
      return scalar.is_plain && is_integer(text) && !is_one_of_several ? python_float(text) : text;
    case LiteralType::integer: return text.substr(0, text.find('.'));
    case LiteralType::boolean: return is_true(text) ? "True" : "False";
  }
  return text;
}

class PortReader {
 public:
  PortReader(const Source& source, const YamlEntry& entry, Faults& faults)
      : source_(source), entry_(entry), faults_(faults) {}

  std::optional<Port> read() {
    port_.name = entry_.key;
    port_.place = entry_.place;
    if (entry_.value.kind != YamlNode::Kind::mapping) {
      fault(entry_.value.place,
            fmt::format("'inputs.{0}' must say its type; write {0}: {{type: number, default: {1}}}",
                        entry_.key, entry_.value.text.empty() ? "1" : entry_.value.text));
      return std::nullopt;
    }
    read_type();
    if (const YamlNode* optional = at("optional")) {
      if (!is_boolean(optional->text))
        fault(optional->place, fmt::format("'{}': '{}' is neither true nor false",
                                           shown("optional"), optional->text));
      port_.optional = is_true(optional->text);
    }
    if (port_.is_data())
      read_data_keys();
    else
      read_literal_keys(std::get<LiteralType>(port_.type));
    if (!is_good_) return std::nullopt;
    return std::move(port_);
  }

 private:
  const YamlNode* at(std::string_view key) const {
    const YamlEntry* found = entry_.value.find(key);
    return found == nullptr || found->value.kind == YamlNode::Kind::null ? nullptr : &found->value;
  }
  std::string shown(std::string_view key) const { return join(join("inputs", entry_.key), key); }
  void fault(const Place& place, const std::string& message) {
    faults_.add(place, source_.error(place, message));
    is_good_ = false;
  }

  void read_type() {
    const YamlNode* type = at("type");
    if (type == nullptr)
      return fault(entry_.place,
                   fmt::format("'inputs.{}' must say its type: {}", entry_.key, kAllTypes));
    const std::string word = lower_case(type->text);
    if (const auto literal = literal_type_from(word)) {
      port_.type = *literal;
    } else if (const auto data = input_type_from(word)) {
      port_.type = *data;
    } else {
      std::vector<std::string_view> words;
      for (const LiteralType one : kLiterals) words.push_back(to_string(one));
      for (int i = 0; i <= static_cast<int>(InputType::triton_model); ++i)
        words.push_back(to_string(static_cast<InputType>(i)));
      fault(type->place, fmt::format("'{}': unknown word '{}'; {}", shown("type"), type->text,
                                     expected(kAllTypes, nearest(word, words))));
    }
  }

  void read_data_keys() {
    for (const std::string_view key : {"default", "min", "max", "enum"})
      if (const YamlNode* node = at(key))
        fault(node->place, fmt::format("'{}': data of type {} has none; only literals do",
                                       shown(key), port_.type_word()));
    auto mode = read_data_mode(source_, entry_.value, entry_.key);
    if (mode)
      port_.mode = *mode;
    else
      faults_.add(entry_.place, mode.error()), is_good_ = false;
  }

  void read_literal_keys(LiteralType type) {
    if (const YamlNode* mode = at("mode"))
      fault(mode->place,
            fmt::format("'{}': only data has a mode, not a {}", shown("mode"), to_string(type)));
    port_.least = bound("min", type);
    port_.most = bound("max", type);
    if (port_.least && port_.most && *to_number(*port_.least) > *to_number(*port_.most))
      fault(at("min")->place,
            fmt::format("'{}': {} is more than max {}", shown("min"), *port_.least, *port_.most));
    read_choices(type);
    const YamlNode* fallback = at("default");
    if (fallback == nullptr || !is_good_) return;
    port_.fallback = default_text(type, *fallback, !port_.choices.empty());
    port_.fallback_place = fallback->place;
    if (const Status good = check_literal(source_, port_, literal_text(*fallback)); !good)
      fault(fallback->place, fmt::format("'{}': {}", shown("default"), good.error().message));
  }

  std::optional<std::string> bound(std::string_view key, LiteralType type) {
    const YamlNode* node = at(key);
    if (node == nullptr) return std::nullopt;
    const bool has_bounds = type == LiteralType::number || type == LiteralType::integer;
    if (!has_bounds) {
      fault(node->place, fmt::format("'{}': only a number or an integer has it, not a {}",
                                     shown(key), to_string(type)));
    } else if (!to_number(literal_text(*node))) {
      fault(node->place, fmt::format("'{}': '{}' is not a number", shown(key), node->text));
    } else {
      return literal_text(*node);
    }
    return std::nullopt;
  }

  void read_choices(LiteralType type) {
    const YamlNode* choices = at("enum");
    if (choices == nullptr) return;
    if (choices->kind != YamlNode::Kind::sequence)
      return fault(choices->place,
                   fmt::format("'{}' must be a list of values, such as [a, b], not {}",
                               shown("enum"), describe(choices->kind)));
    for (const YamlNode& item : choices->items) {
      if (item.kind != YamlNode::Kind::scalar || !is_of_type(type, literal_text(item)))
        fault(item.place, fmt::format("'{}': {} is not of type {}", shown("enum"),
                                      item.kind == YamlNode::Kind::scalar ? quoted_name(item.text)
                                                                          : describe(item.kind),
                                      to_string(type)));
      port_.choices.push_back(literal_text(item));
    }
  }

  const Source& source_;
  const YamlEntry& entry_;
  Faults& faults_;
  Port port_;
  bool is_good_ = true;
};

}  // namespace

std::string_view to_string(LiteralType type) {
  switch (type) {
    case LiteralType::string: return "string";
    case LiteralType::number: return "number";
    case LiteralType::integer: return "integer";
    case LiteralType::boolean: return "boolean";
  }
  return "string";
}

std::optional<LiteralType> literal_type_from(std::string_view word) {
  for (const LiteralType type : kLiterals)
    if (to_string(type) == word) return type;
  return std::nullopt;
}

std::string_view Port::type_word() const {
  if (const auto* data = std::get_if<InputType>(&type)) return lockstep::to_string(*data);
  return to_string(std::get<LiteralType>(type));
}

std::optional<Port> read_port(const Source& source, const YamlEntry& entry, Faults& faults) {
  return PortReader(source, entry, faults).read();
}

Status check_literal(const Source& source, const Port& port, const std::string& text) {
  const auto wrong = [&](const std::string& why) {
    return make_error(ErrorCode::invalid_argument, fmt::format("{} {}", quoted_name(text), why));
  };
  const std::string where = source.where(port.place);
  const auto* type = std::get_if<LiteralType>(&port.type);
  if (type == nullptr)
    return wrong(fmt::format("is a plain value, but the input is a {} ({}); write {{path: …}}",
                             port.type_word(), where));
  if (!is_of_type(*type, text))
    return wrong(fmt::format("is not a value of type {} ({})", to_string(*type), where));
  if (port.least && *to_number(text) < *to_number(*port.least))
    return wrong(fmt::format("is less than min {} ({})", *port.least, where));
  if (port.most && *to_number(text) > *to_number(*port.most))
    return wrong(fmt::format("is more than max {} ({})", *port.most, where));
  const auto same = [&](const std::string& choice) {
    if (*type == LiteralType::number) return *to_number(choice) == *to_number(text);
    return choice == text;
  };
  if (!port.choices.empty() && std::none_of(port.choices.begin(), port.choices.end(), same))
    return wrong(fmt::format("is not one of {} ({})", fmt::join(port.choices, ", "), where));
  return {};
}

}  // namespace lockstep::spec
