#include "launcher/spec/search_space_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>

#include "common/base/nearest.h"
#include "common/base/quoted_name.h"
#include "common/domain/outputs.h"
#include "launcher/spec/job_shapes.h"
#include "launcher/spec/known_word.h"
#include "launcher/spec/literal_text.h"

namespace lockstep::spec {

namespace {

using Kind = YamlNode::Kind;

constexpr std::array<std::string_view, 1> kOfChoice = {"values"};
constexpr std::array<std::string_view, 1> kOfRandint = {"upper"};
constexpr std::array<std::string_view, 2> kOfUniform = {"min_value", "max_value"};
constexpr std::array<std::string_view, 3> kOfQuniform = {"min_value", "max_value", "q"};
constexpr std::array<std::string_view, 2> kOfNormal = {"mu", "sigma"};
constexpr std::array<std::string_view, 3> kOfQnormal = {"mu", "sigma", "q"};

// The keys beside `type`, all of them required.
struct ExpressionType {
  std::string_view word;
  std::span<const std::string_view> keys;
};
constexpr std::array<ExpressionType, 10> kTypes = {{{"choice", kOfChoice},
                                                    {"randint", kOfRandint},
                                                    {"uniform", kOfUniform},
                                                    {"quniform", kOfQuniform},
                                                    {"loguniform", kOfUniform},
                                                    {"qloguniform", kOfQuniform},
                                                    {"normal", kOfNormal},
                                                    {"qnormal", kOfQnormal},
                                                    {"lognormal", kOfNormal},
                                                    {"qlognormal", kOfQnormal}}};

bool has_key(const ExpressionType& type, std::string_view key) {
  return key == "type" || std::find(type.keys.begin(), type.keys.end(), key) != type.keys.end();
}

std::string all_expression_types() {
  std::vector<std::string_view> words;
  for (const ExpressionType& type : kTypes) words.push_back(type.word);
  return fmt::format("{}", fmt::join(words, ", "));
}

std::optional<double> number_in(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<std::int64_t> integer_in(const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  return value;
}

const YamlEntry* entry_of(const YamlNode& mapping, std::string_view key) {
  const YamlEntry* entry = mapping.find(key);
  return entry == nullptr || entry->value.kind == Kind::null ? nullptr : entry;
}

class SpaceReader {
 public:
  SpaceReader(const Source& source, const SamplingAlgorithm& sampling, Faults& faults, Notes& notes)
      : source_(source), sampling_(sampling), faults_(faults), notes_(notes) {}

  SearchSpace read(const YamlNode& mapping, const std::string& path, int depth) {
    SearchSpace space;
    if (depth > kMaxSearchDepth) {
      fault(mapping.place, path,
            fmt::format("mappings are nested more than {} deep", kMaxSearchDepth));
      return space;
    }
    for (const YamlEntry& entry : mapping.entries) {
      if (!valid_output_name(entry.key)) {
        fault(entry.place, path,
              fmt::format("{} is not a name; use letters, digits and '_', and do not begin with a "
                          "digit",
                          quoted_name(entry.key)));
        continue;
      }
      if (auto expression = read_value(entry, join(path, entry.key), depth))
        space.push_back({entry.key, *std::move(expression)});
    }
    return space;
  }

 private:
  void fault(const Place& place, const std::string& path, const std::string& what) {
    faults_.add(place, source_.error(place, fmt::format("'{}': {}", path, what)));
  }

  // nullopt behind a fault, as in all that follows.
  std::optional<SearchExpression> read_value(const YamlEntry& entry, const std::string& path,
                                             int depth) {
    if (entry.value.kind == Kind::mapping) return read_expression(entry, path, depth);
    if (depth > 0 && entry.value.kind == Kind::scalar) return sweep_value(entry.value);
    const Place& place = entry.value.kind == Kind::null ? entry.place : entry.value.place;
    fault(place, path,
          fmt::format("must be a mapping with a type, such as {{type: uniform, min_value: 0.1, "
                      "max_value: 1}}, not {}",
                      describe(entry.value.kind)));
    return std::nullopt;
  }

  std::optional<SearchExpression> read_expression(const YamlEntry& entry, const std::string& path,
                                                  int depth) {
    const ExpressionType* type = read_type(entry, path);
    if (type == nullptr || !check_keys(entry, *type, path)) return std::nullopt;
    auto expression = read_of_type(entry, *type, path, depth);
    if (!expression) return std::nullopt;
    if (const Status good = check_expression(*expression, log_base_of(sampling_)); !good) {
      const std::string& message = good.error().message;
      const std::string key = message.substr(0, message.find(':'));
      const YamlEntry* wrong_key = entry_of(entry.value, key);
      fault(wrong_key == nullptr ? entry.place : wrong_key->value.place, join(path, key),
            message.substr(std::min(message.size(), key.size() + 2)));
      return std::nullopt;
    }
    if (const Status good = check_sampling(*expression, sampling_); !good) {
      fault(entry_of(entry.value, "type")->value.place, path, good.error().message);
      return std::nullopt;
    }
    if (const auto* range = std::get_if<UniformRange>(&*expression))
      note_bounds(entry, *range, path);
    return expression;
  }

  const ExpressionType* read_type(const YamlEntry& entry, const std::string& path) {
    const YamlEntry* type = entry_of(entry.value, "type");
    if (type == nullptr) {
      fault(entry.place, path, fmt::format("needs a type: {}", all_expression_types()));
      return nullptr;
    }
    const std::string word = lower_case(type->value.text);
    const auto known = std::find_if(kTypes.begin(), kTypes.end(),
                                    [&](const ExpressionType& one) { return one.word == word; });
    if (type->value.kind == Kind::scalar && known != kTypes.end()) return &*known;
    std::vector<std::string_view> words;
    for (const ExpressionType& one : kTypes) words.push_back(one.word);
    const std::string near = nearest(word, words);
    fault(type->value.place, join(path, "type"),
          type->value.kind != Kind::scalar
              ? fmt::format("must be a word, not {}", describe(type->value.kind))
              : fmt::format("unknown word '{}'; {}", type->value.text,
                            near.empty() ? "it must be one of " + all_expression_types()
                                         : fmt::format("did you mean '{}'?", near)));
    return nullptr;
  }

  bool check_keys(const YamlEntry& entry, const ExpressionType& type, const std::string& path) {
    bool is_good = true;
    std::vector<std::string_view> mistaken;  // the keys that are probably meant by unknown ones
    for (const YamlEntry& one : entry.value.entries) {
      if (has_key(type, one.key)) continue;
      is_good = false;
      const std::string near = nearest(one.key, type.keys);
      if (!near.empty()) mistaken.push_back(*std::find(type.keys.begin(), type.keys.end(), near));
      faults_.add(one.place, source_.error(one.place, unknown_key(one.key, near, type, path)));
    }
    for (const std::string_view key : type.keys) {
      const bool is_mistaken = std::find(mistaken.begin(), mistaken.end(), key) != mistaken.end();
      if (is_mistaken || entry_of(entry.value, key) != nullptr) continue;
      is_good = false;
      fault(entry.place, path, fmt::format("{} needs '{}'", type.word, key));
    }
    return is_good;
  }

  static std::string unknown_key(const std::string& key, const std::string& near,
                                 const ExpressionType& type, const std::string& path) {
    std::vector<std::string_view> with_it;
    for (const ExpressionType& other : kTypes)
      if (has_key(other, key)) with_it.push_back(other.word);
    if (!with_it.empty())
      return fmt::format("'{}' is a key of {}, not of {}; leave it out", join(path, key),
                         fmt::join(with_it, ", "), type.word);
    return fmt::format("unknown key '{}'{}", join(path, key),
                       near.empty()
                           ? fmt::format("; {} has {}", type.word, fmt::join(type.keys, ", "))
                           : fmt::format("; did you mean '{}'?", join(path, near)));
  }

  std::optional<SearchExpression> read_of_type(const YamlEntry& entry, const ExpressionType& type,
                                               const std::string& path, int depth) {
    if (type.word == "choice") return read_choice(entry, path, depth);
    if (type.word == "randint") return read_randint(entry, path);
    const bool is_log = type.word.find("log") != std::string_view::npos;
    const bool is_uniform = type.word.ends_with("uniform");
    const auto first = number(entry, is_uniform ? "min_value" : "mu", path);
    const auto second = number(entry, is_uniform ? "max_value" : "sigma", path);
    const bool has_q = has_key(type, "q");
    const auto q = has_q ? number(entry, "q", path) : std::nullopt;
    if (!first || !second || (has_q && !q)) return std::nullopt;
    if (is_uniform) return UniformRange{*first, *second, is_log, q};
    return NormalRange{*first, *second, is_log, q};
  }

  std::optional<double> number(const YamlEntry& entry, std::string_view key,
                               const std::string& path) {
    const YamlNode& value = entry_of(entry.value, key)->value;
    if (value.kind != Kind::scalar) {
      fault(value.place, join(path, key),
            fmt::format("must be a number, not {}", describe(value.kind)));
      return std::nullopt;
    }
    const auto read = number_in(literal_text(value));
    if (!read) fault(value.place, join(path, key), fmt::format("'{}' is not a number", value.text));
    return read;
  }

  std::optional<SearchExpression> read_randint(const YamlEntry& entry, const std::string& path) {
    const YamlNode& upper = entry_of(entry.value, "upper")->value;
    const auto read = upper.kind == Kind::scalar ? integer_in(literal_text(upper))
                                                 : std::optional<std::int64_t>();
    if (read) return RandomInteger{*read};
    fault(upper.place, join(path, "upper"),
          upper.kind == Kind::scalar
              ? fmt::format("'{}' is not a whole number", upper.text)
              : fmt::format("must be a whole number, not {}", describe(upper.kind)));
    return std::nullopt;
  }

  std::optional<SearchExpression> read_choice(const YamlEntry& entry, const std::string& path,
                                              int depth) {
    const YamlNode& values = entry_of(entry.value, "values")->value;
    const std::string here = join(path, "values");
    if (values.kind != Kind::sequence) {
      fault(
          values.place, here,
          fmt::format("must be a list of values, such as [16, 32], not {}", describe(values.kind)));
      return std::nullopt;
    }
    Choice choice;
    bool is_good = true;
    for (const YamlNode& item : values.items)
      if (auto option = read_option(item, here, depth))
        choice.options.push_back(*std::move(option));
      else
        is_good = false;
    if (!is_good) return std::nullopt;
    return choice;
  }

  std::optional<ChoiceOption> read_option(const YamlNode& item, const std::string& path,
                                          int depth) {
    ChoiceOption option;
    if (item.kind == Kind::scalar) {
      option.value = sweep_value(item);
      return option;
    }
    if (item.kind != Kind::mapping || item.entries.empty()) {
      fault(item.place, path,
            fmt::format("a value must be a text, a number or a mapping, not {}",
                        item.kind == Kind::mapping ? "an empty mapping" : describe(item.kind)));
      return std::nullopt;
    }
    option.object = read(item, path, depth + 1);
    if (option.object.size() < item.entries.size()) return std::nullopt;  // its fault is said
    return option;
  }

  // Bounds of a logarithmic range that look like the values themselves.
  void note_bounds(const YamlEntry& entry, const UniformRange& range, const std::string& path) {
    const double log = std::log(log_base_of(sampling_));
    if (!range.is_log || range.min <= 0 || range.max > 1 || range.min >= range.max) return;
    notes_.push_back(
        fmt::format("{}: '{}': the bounds of {} are exponents, so that it draws from {:.6g} to "
                    "{:.6g}; for {:g} "
                    "to {:g} write min_value: {:.4g}, max_value: {:.4g}",
                    source_.where(entry.place), path, type_word(SearchExpression(range)),
                    std::exp(range.min * log), std::exp(range.max * log), range.min, range.max,
                    std::log(range.min) / log, std::log(range.max) / log));
  }

  const Source& source_;
  const SamplingAlgorithm& sampling_;
  Faults& faults_;
  Notes& notes_;
};

}  // namespace

ReadSpace read_search_space(const Source& source, const YamlNode& node,
                            const SamplingAlgorithm& sampling, Faults& faults, Notes& notes) {
  ReadSpace read;
  if (node.kind != Kind::mapping || node.entries.empty()) {
    faults.add(node.place,
               source.error(node.place,
                            fmt::format("'search_space' must be a mapping of names to expressions, "
                                        "such as {{lr: {{type: uniform, min_value: 0.1, max_value: "
                                        "1}}}}, not {}",
                                        node.kind == Kind::mapping ? "an empty mapping"
                                                                   : describe(node.kind))));
    return read;
  }
  for (const YamlEntry& entry : node.entries) read.places[entry.key] = entry.place;
  read.space = SpaceReader(source, sampling, faults, notes).read(node, "search_space", 0);
  return read;
}

SweepValue sweep_value(const YamlNode& scalar) {
  const std::string text = literal_text(scalar);
  if (!scalar.is_plain) return {SweepValue::Kind::text, text};
  if (text == "True" || text == "False") return {SweepValue::Kind::boolean, text};
  if (integer_in(text)) return {SweepValue::Kind::integer, text};
  // Floats of YAML have become what Python writes; 1e-3, which has no dot, is a text there.
  const auto number = number_in(text);
  const bool is_number = number && number_text(*number) == text;
  return {is_number ? SweepValue::Kind::number : SweepValue::Kind::text, text};
}

std::vector<std::string> sample_texts(const SearchExpression& expression, double log_base) {
  if (const auto* constant = std::get_if<SweepValue>(&expression)) return {constant->text};
  if (const auto* random = std::get_if<RandomInteger>(&expression))
    return {"0", std::to_string(random->upper - 1)};
  std::vector<std::string> texts;
  if (const auto* choice = std::get_if<Choice>(&expression)) {
    for (const ChoiceOption& option : choice->options)
      texts.push_back(option.object.empty() ? option.value.text : "{}");
    return texts;
  }
  const auto* uniform = std::get_if<UniformRange>(&expression);
  const auto* normal = std::get_if<NormalRange>(&expression);
  const bool is_log = uniform != nullptr ? uniform->is_log : normal->is_log;
  const auto& q = uniform != nullptr ? uniform->q : normal->q;
  const std::vector<double> ends =
      uniform != nullptr ? std::vector{uniform->min, uniform->max} : std::vector{normal->mu};
  for (const double end : ends) {
    const double value = is_log ? std::exp(end * std::log(log_base)) : end;
    texts.push_back(q ? quantized_value(value, *q).text : number_text(value));
  }
  return texts;
}

}  // namespace lockstep::spec
