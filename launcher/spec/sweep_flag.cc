#include "launcher/spec/sweep_flag.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <vector>

#include "common/base/nearest.h"
#include "common/domain/outputs.h"
#include "launcher/spec/search_space_reader.h"

namespace lockstep::spec {

namespace {

struct FlagForm {
  std::string_view word;
  std::string_view form;  // of what follows the word
  std::size_t numbers;    // so many, with ':' between them; 0: a list
};
constexpr std::array<FlagForm, 10> kForms = {{{"choice", "A,B,C", 0},
                                              {"randint", "UPPER", 1},
                                              {"uniform", "MIN:MAX", 2},
                                              {"quniform", "MIN:MAX:Q", 3},
                                              {"loguniform", "MIN:MAX", 2},
                                              {"qloguniform", "MIN:MAX:Q", 3},
                                              {"normal", "MU:SIGMA", 2},
                                              {"qnormal", "MU:SIGMA:Q", 3},
                                              {"lognormal", "MU:SIGMA", 2},
                                              {"qlognormal", "MU:SIGMA:Q", 3}}};

std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

class FlagReader {
 public:
  explicit FlagReader(const std::string& text) : text_(text) {}

  Result<SearchParameter> read() {
    const auto equals = text_.find('=');
    if (equals == std::string::npos || equals == 0)
      return wrong("has no name; write NAME=uniform:MIN:MAX");
    SearchParameter parameter;
    parameter.name = text_.substr(0, equals);
    if (!valid_output_name(parameter.name))
      return wrong(
          "has a name with other characters than letters, digits and '_', or one that begins with "
          "a digit");
    const std::string rest = text_.substr(equals + 1);
    const auto colon = std::min(rest.find(':'), rest.size());
    TRY_ASSIGN(const FlagForm form, form_of(rest.substr(0, colon)));
    const std::string after = colon < rest.size() ? rest.substr(colon + 1) : "";
    TRY_ASSIGN(parameter.expression, read_expression(form, after));
    if (const Status good = check_expression(parameter.expression, RandomSampling{}.log_base);
        !good)
      return wrong("is wrong: " + good.error().message);
    return parameter;
  }

 private:
  Error wrong(const std::string& what) const {
    return make_error(ErrorCode::invalid_argument, fmt::format("'{}' {}", text_, what));
  }

  Result<FlagForm> form_of(const std::string& word) const {
    std::vector<std::string_view> words;
    std::string all;
    for (const FlagForm& form : kForms) {
      if (form.word == word) return form;
      words.push_back(form.word);
      all += (all.empty() ? "" : ", ") + std::string(form.word);
    }
    const std::string near = nearest(word, words);
    return wrong(near.empty() ? fmt::format("names no kind of values; these are {}", all)
                              : fmt::format("has an unknown word; did you mean '{}'?", near));
  }

  Result<SearchExpression> read_expression(const FlagForm& form, const std::string& text) const {
    if (form.numbers == 0) return read_choice(form, text);
    TRY_ASSIGN(const std::vector<double> numbers, read_numbers(form, text));
    if (form.word == "randint") {
      if (std::floor(numbers[0]) != numbers[0] ||
          std::abs(numbers[0]) > static_cast<double>(kMaxRandomInteger))
        return needs(form);
      return SearchExpression(RandomInteger{static_cast<std::int64_t>(numbers[0])});
    }
    const bool is_log = form.word.find("log") != std::string_view::npos;
    const auto q = numbers.size() == 3 ? std::optional<double>(numbers[2]) : std::nullopt;
    if (!form.word.ends_with("uniform"))
      return SearchExpression(NormalRange{numbers[0], numbers[1], is_log, q});
    if (!is_log) return SearchExpression(UniformRange{numbers[0], numbers[1], false, q});
    if (numbers[0] <= 0 || numbers[1] <= 0)
      return wrong("has a bound that is not above 0; the values of a logarithmic range are");
    return SearchExpression(UniformRange{std::log(numbers[0]), std::log(numbers[1]), true, q});
  }

  Error needs(const FlagForm& form) const {
    return wrong(fmt::format("is not of the form NAME={}:{}", form.word, form.form));
  }

  Result<SearchExpression> read_choice(const FlagForm& form, const std::string& text) const {
    if (text.empty()) return needs(form);
    Choice choice;
    for (std::string& part : split_at(text, ',')) {
      YamlNode scalar;
      scalar.kind = YamlNode::Kind::scalar;
      scalar.text = std::move(part);
      scalar.is_plain = true;
      ChoiceOption option;
      option.value = sweep_value(scalar);
      choice.options.push_back(std::move(option));
    }
    return SearchExpression(std::move(choice));
  }

  Result<std::vector<double>> read_numbers(const FlagForm& form, const std::string& text) const {
    const std::vector<std::string> parts = split_at(text, ':');
    if (parts.size() != form.numbers) return needs(form);
    std::vector<double> numbers;
    for (const std::string& part : parts) {
      char* end = nullptr;
      numbers.push_back(std::strtod(part.c_str(), &end));
      if (part.empty() || *end != '\0' || !std::isfinite(numbers.back())) return needs(form);
    }
    return numbers;
  }

  const std::string& text_;
};

}  // namespace

Result<SearchParameter> parse_sweep_flag(const std::string& text) {
  return FlagReader(text).read();
}

}  // namespace lockstep::spec
