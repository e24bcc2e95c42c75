#include "launcher/cli/jmespath/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/nearest.h"
#include "launcher/cli/jmespath/value.h"

namespace lockstep::cli::jmespath {
namespace {

using Arguments = std::vector<Argument>;

enum Type : unsigned {
  kNumber = 1,
  kString = 2,
  kBoolean = 4,
  kArray = 8,
  kObject = 16,
  kNull = 32,
  kExpression = 64,
  kNumbers = 128,  // an array of numbers
  kStrings = 256,
  kAny = kNumber | kString | kBoolean | kArray | kObject | kNull,
};

struct Function {
  std::string_view name;
  std::vector<unsigned> types;  // the types that each argument may have
  bool repeats;                 // the last argument may be repeated
  Result<Json> (*work)(Arguments&);
};

Error wrong(const std::string& why) { return make_error(ErrorCode::invalid_argument, why); }

bool all_are(const Json& list, bool (Json::*kind)() const noexcept) {
  return std::all_of(list.begin(), list.end(), [&](const Json& one) { return (one.*kind)(); });
}

bool fits(const Argument& argument, unsigned types) {
  if (argument.expression) return (types & kExpression) != 0;
  const Json& value = argument.value;
  if (value.is_number()) return (types & kNumber) != 0;
  if (value.is_string()) return (types & kString) != 0;
  if (value.is_boolean()) return (types & kBoolean) != 0;
  if (value.is_object()) return (types & kObject) != 0;
  if (value.is_null()) return (types & kNull) != 0;
  return (types & kArray) != 0 || ((types & kNumbers) != 0 && all_are(value, &Json::is_number)) ||
         ((types & kStrings) != 0 && all_are(value, &Json::is_string));
}

std::string words_of(unsigned types) {
  constexpr std::pair<unsigned, std::string_view> kWords[] = {
      {kNumber, "a number"},
      {kString, "a string"},
      {kBoolean, "a boolean"},
      {kArray, "an array"},
      {kObject, "an object"},
      {kNumbers, "an array of numbers"},
      {kStrings, "an array of strings"},
      {kExpression, "an expression such as &name"}};
  if ((types & kAny) == kAny) return "a value";
  std::string text;
  for (const auto& [type, words] : kWords)
    if ((types & type) != 0) text.append(text.empty() ? "" : " or ").append(words);
  return text;
}

std::string_view given(const Argument& argument) {
  return argument.expression ? "an expression" : type_of(argument.value);
}

const std::string& text_of(const Argument& argument) {
  return argument.value.get_ref<const std::string&>();
}

std::vector<std::string> characters_of(const std::string& text) {
  std::vector<std::string> characters;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80 || characters.empty())
      characters.emplace_back();
    characters.back() += c;
  }
  return characters;
}

std::string dumped(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_small(const Json& number) {  // An integer within the exact range.
  return number.is_number_integer() &&
         (!number.is_number_unsigned() ||
          number.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
}

Json rounded(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53, up to which doubles hold every integer
  if (std::fabs(value) <= kExact) return static_cast<std::int64_t>(value);
  return value;
}

Result<Json> sum(Arguments& arguments) {
  std::int64_t whole = 0;
  double all = 0;
  bool is_whole = true;
  for (const Json& number : arguments[0].value) {
    all += number.get<double>();
    is_whole = is_whole && is_small(number) &&
               !__builtin_add_overflow(whole, number.get<std::int64_t>(), &whole);
  }
  return is_whole ? Json(whole) : Json(all);
}

Result<Json> average(Arguments& arguments) {
  const std::size_t count = arguments[0].value.size();
  if (count == 0) return Json();
  TRY_ASSIGN(const Json all, sum(arguments));
  return Json(all.get<double>() / static_cast<double>(count));
}

Result<Json> absolute(Arguments& arguments) {
  const Json& number = arguments[0].value;
  if (number.is_number_unsigned()) return number;
  if (is_small(number) && number.get<std::int64_t>() != INT64_MIN)
    return Json(std::abs(number.get<std::int64_t>()));
  return Json(std::fabs(number.get<double>()));
}

Result<Json> ceiling(Arguments& arguments) {
  const Json& number = arguments[0].value;
  return number.is_number_integer() ? number : rounded(std::ceil(number.get<double>()));
}

Result<Json> floor(Arguments& arguments) {
  const Json& number = arguments[0].value;
  return number.is_number_integer() ? number : rounded(std::floor(number.get<double>()));
}

Result<Json> contains(Arguments& arguments) {
  const Json& subject = arguments[0].value;
  const Json& wanted = arguments[1].value;
  if (subject.is_string())
    return Json(wanted.is_string() &&
                text_of(arguments[0]).find(text_of(arguments[1])) != std::string::npos);
  return Json(std::any_of(subject.begin(), subject.end(),
                          [&](const Json& one) { return equal(one, wanted); }));
}

Result<Json> ends_with(Arguments& arguments) {
  const std::string &text = text_of(arguments[0]), &end = text_of(arguments[1]);
  return Json(text.size() >= end.size() && text.substr(text.size() - end.size()) == end);
}

Result<Json> starts_with(Arguments& arguments) {
  return Json(text_of(arguments[0]).rfind(text_of(arguments[1]), 0) == 0);
}

Result<Json> join(Arguments& arguments) {
  std::string text;
  bool is_first = true;
  for (const Json& part : arguments[1].value) {
    if (!is_first) text += text_of(arguments[0]);
    is_first = false;
    text += part.get_ref<const std::string&>();
  }
  return Json(text);
}

Result<Json> keys(Arguments& arguments) {
  Json list = Json::array();
  for (const auto& [key, value] : arguments[0].value.items()) list.push_back(key);
  return list;
}

Result<Json> values(Arguments& arguments) {
  Json list = Json::array();
  for (const Json& value : arguments[0].value) list.push_back(value);
  return list;
}

Result<Json> length(Arguments& arguments) {
  const Json& value = arguments[0].value;
  return Json(value.is_string() ? characters_of(text_of(arguments[0])).size() : value.size());
}

Result<Json> map(Arguments& arguments) {
  Json list = Json::array();
  for (const Json& one : arguments[1].value) {
    TRY_ASSIGN(Json mapped, arguments[0].expression(one));
    list.push_back(std::move(mapped));
  }
  return list;
}

Result<Json> merge(Arguments& arguments) {
  Json all = Json::object();
  for (const Argument& argument : arguments)
    for (const auto& [key, value] : argument.value.items()) all[key] = value;
  return all;
}

Result<Json> not_null(Arguments& arguments) {
  for (Argument& argument : arguments)
    if (!argument.value.is_null()) return std::move(argument.value);
  return Json();
}

Result<Json> reverse(Arguments& arguments) {
  Json value = std::move(arguments[0].value);
  if (value.is_array()) {
    std::reverse(value.begin(), value.end());
    return value;
  }
  std::string text;
  for (const std::string& character : characters_of(value.get<std::string>()))
    text.insert(0, character);
  return Json(text);
}

Result<Json> to_array(Arguments& arguments) {
  if (arguments[0].value.is_array()) return std::move(arguments[0].value);
  return Json::array({arguments[0].value});
}

Result<Json> to_string(Arguments& arguments) {
  const Json& value = arguments[0].value;
  return value.is_string() ? value : Json(dumped(value));
}

Result<Json> to_number(Arguments& arguments) {
  const Json& value = arguments[0].value;
  if (value.is_number()) return value;
  if (!value.is_string()) return Json();
  Json number = Json::parse(value.get_ref<const std::string&>(), nullptr, false);
  return number.is_number() ? number : Json();
}

Result<Json> type(Arguments& arguments) { return Json(std::string(type_of(arguments[0].value))); }

Result<Json> sort(Arguments& arguments) {
  Json list = std::move(arguments[0].value);
  std::stable_sort(list.begin(), list.end(), less);
  return list;
}

Result<Json> greatest(Arguments& arguments) {
  const Json& list = arguments[0].value;
  return list.empty() ? Json() : *std::max_element(list.begin(), list.end(), less);
}

Result<Json> least(Arguments& arguments) {
  const Json& list = arguments[0].value;
  return list.empty() ? Json() : *std::min_element(list.begin(), list.end(), less);
}

// Each element with the key that the expression gives for it: all are numbers, or all strings.
struct Keyed {
  Json key, element;
};
bool less_key(const Keyed& a, const Keyed& b) { return less(a.key, b.key); }

Result<std::vector<Keyed>> keyed(Arguments& arguments) {
  std::vector<Keyed> all;
  for (Json& element : arguments[0].value) {
    TRY_ASSIGN(Json key, arguments[1].expression(element));
    if (!key.is_number() && !key.is_string())
      return wrong(fmt::format("takes numbers or strings as keys, and the expression gives {}",
                               type_of(key)));
    if (!all.empty() && !are_ordered(all.front().key, key))
      return wrong("takes keys of one type, and the expression gives numbers and strings");
    all.push_back({std::move(key), std::move(element)});
  }
  return all;
}

Result<Json> sort_by(Arguments& arguments) {
  TRY_ASSIGN(std::vector<Keyed> all, keyed(arguments));
  std::stable_sort(all.begin(), all.end(), less_key);
  Json list = Json::array();
  for (Keyed& one : all) list.push_back(std::move(one.element));
  return list;
}

Result<Json> greatest_by(Arguments& arguments) {
  TRY_ASSIGN(std::vector<Keyed> all, keyed(arguments));
  return all.empty() ? Json() : std::max_element(all.begin(), all.end(), less_key)->element;
}

Result<Json> least_by(Arguments& arguments) {
  TRY_ASSIGN(std::vector<Keyed> all, keyed(arguments));
  return all.empty() ? Json() : std::min_element(all.begin(), all.end(), less_key)->element;
}

const std::vector<Function>& functions() {
  static const std::vector<Function> all{{"abs", {kNumber}, false, absolute},
                                         {"avg", {kNumbers}, false, average},
                                         {"ceil", {kNumber}, false, ceiling},
                                         {"contains", {kArray | kString, kAny}, false, contains},
                                         {"ends_with", {kString, kString}, false, ends_with},
                                         {"floor", {kNumber}, false, floor},
                                         {"join", {kString, kStrings}, false, join},
                                         {"keys", {kObject}, false, keys},
                                         {"length", {kString | kArray | kObject}, false, length},
                                         {"map", {kExpression, kArray}, false, map},
                                         {"max", {kNumbers | kStrings}, false, greatest},
                                         {"max_by", {kArray, kExpression}, false, greatest_by},
                                         {"merge", {kObject}, true, merge},
                                         {"min", {kNumbers | kStrings}, false, least},
                                         {"min_by", {kArray, kExpression}, false, least_by},
                                         {"not_null", {kAny}, true, not_null},
                                         {"reverse", {kString | kArray}, false, reverse},
                                         {"sort", {kNumbers | kStrings}, false, sort},
                                         {"sort_by", {kArray, kExpression}, false, sort_by},
                                         {"starts_with", {kString, kString}, false, starts_with},
                                         {"sum", {kNumbers}, false, sum},
                                         {"to_array", {kAny}, false, to_array},
                                         {"to_number", {kAny}, false, to_number},
                                         {"to_string", {kAny}, false, to_string},
                                         {"type", {kAny}, false, type},
                                         {"values", {kObject}, false, values}};
  return all;
}

Error unknown(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Function& one : functions()) names.push_back(one.name);
  const std::string near = nearest(name, names);
  std::string all;
  for (const std::string_view one : names) all.append(all.empty() ? "" : ", ").append(one);
  return wrong(fmt::format("unknown function {}(); {}", name,
                           near.empty() ? "there are " + all : "did you mean " + near + "()?"));
}

const Function* find_function(const std::string& name) {
  const auto& all = functions();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Function& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

Status check_call(const std::string& name, std::size_t arguments) {
  const Function* const found = find_function(name);
  if (found == nullptr) return unknown(name);
  const std::size_t least = found->types.size();
  if (arguments >= least && (arguments == least || found->repeats)) return {};
  return wrong(fmt::format("{}() takes {}{} argument{}, not {}", name,
                           found->repeats ? "at least " : "", least, least == 1 ? "" : "s",
                           arguments));
}

Result<Json> call(const std::string& name, std::vector<Argument> arguments) {
  TRY(check_call(name, arguments.size()));
  const Function* const found = find_function(name);
  const std::size_t least = found->types.size();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const unsigned types = found->types[std::min(i, least - 1)];
    if (!fits(arguments[i], types))
      return wrong(fmt::format("{}() takes {} as argument {}, and was given {}", name,
                               words_of(types), i + 1, given(arguments[i])));
  }
  auto result = found->work(arguments);
  if (!result && result.error().message.rfind("takes", 0) == 0)
    result.error().message.insert(0, name + "() ");
  return result;
}

}  // namespace lockstep::cli::jmespath
