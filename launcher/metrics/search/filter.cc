#include "launcher/metrics/search/filter.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "launcher/metrics/search/filter_lexer.h"

namespace lockstep::metrics {

namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text, "filter") {}

  Result<Filter> filter() {
    Filter filter;
    TRY(advance());
    if (token_.kind == Token::Kind::end) return filter;
    for (;;) {
      if (filter.size() == kMaxClauses)
        return lexer_.error(token_.column,
                            fmt::format("a filter has at most {} clauses", kMaxClauses));
      TRY_ASSIGN(Clause clause, this->clause());
      filter.push_back(std::move(clause));
      if (token_.kind == Token::Kind::end) return filter;
      if (is_keyword(token_, "OR"))
        return lexer_.error(token_.column, "OR is not possible; clauses are joined by AND");
      if (!is_keyword(token_, "AND"))
        return lexer_.error(token_.column,
                            fmt::format("expected AND or the end, and found {}", in_words(token_)));
      TRY(advance());
    }
  }

 private:
  Status advance() {
    TRY_ASSIGN(token_, lexer_.next());
    return {};
  }

  Result<Clause> clause() {
    Clause clause;
    clause.column = token_.column;
    if (token_.text == "(" && token_.kind == Token::Kind::symbol)
      return lexer_.error(token_.column, "parentheses are possible behind IN alone");
    TRY_ASSIGN(clause.field, field_of(token_, lexer_));
    TRY(advance());
    const Token comparison = token_;
    TRY_ASSIGN(clause.comparison, this->comparison());
    TRY(expect_fit(clause, comparison));
    const bool is_list =
        clause.comparison == Comparison::in || clause.comparison == Comparison::not_in;
    if (is_list) {
      TRY_ASSIGN(clause.value, words());
    } else if (is_number(clause.field)) {
      TRY_ASSIGN(clause.value, number());
    } else {
      TRY_ASSIGN(clause.value, text());
    }
    return clause;
  }

  Result<Comparison> comparison() {
    constexpr std::pair<std::string_view, Comparison> kSymbols[] = {
        {"=", Comparison::equal},   {"!=", Comparison::unequal},
        {"<", Comparison::less},    {"<=", Comparison::less_or_equal},
        {">", Comparison::greater}, {">=", Comparison::greater_or_equal}};
    constexpr std::pair<std::string_view, Comparison> kWords[] = {
        {"LIKE", Comparison::like}, {"ILIKE", Comparison::ilike}, {"IN", Comparison::in}};
    for (const auto& [symbol, comparison] : kSymbols) {
      if (token_.kind != Token::Kind::symbol || token_.text != symbol) continue;
      TRY(advance());
      return comparison;
    }
    for (const auto& [word, comparison] : kWords) {
      if (!is_keyword(token_, word)) continue;
      TRY(advance());
      return comparison;
    }
    const Token found = token_;
    if (is_keyword(token_, "NOT")) {
      TRY(advance());
      if (is_keyword(token_, "IN")) {
        TRY(advance());
        return Comparison::not_in;
      }
    }
    const char* const hint = found.text == "=="   ? "; write ="
                             : found.text == "<>" ? "; write !="
                                                  : "";
    return lexer_.error(found.column,
                        fmt::format("expected =, !=, <, <=, >, >=, LIKE, ILIKE, IN or NOT IN, and "
                                    "found {}{}",
                                    in_words(found), hint));
  }

  // Which comparisons a field has.
  Status expect_fit(const Clause& clause, const Token& at) const {
    bool fits = false;
    switch (clause.comparison) {
      case Comparison::equal:
      case Comparison::unequal: fits = true; break;
      case Comparison::less:
      case Comparison::less_or_equal:
      case Comparison::greater:
      case Comparison::greater_or_equal: fits = is_number(clause.field); break;
      case Comparison::like:
      case Comparison::ilike: fits = !is_number(clause.field); break;
      case Comparison::in:
      case Comparison::not_in:
        fits = clause.field.entity == Entity::dataset ||
               (clause.field.entity == Entity::attribute && !is_number(clause.field));
        break;
    }
    if (fits) return {};
    const bool is_plain =
        clause.field.entity == Entity::parameter || clause.field.entity == Entity::tag;
    const char* const possible = is_number(clause.field) ? "a number has =, !=, <, <=, > and >="
                                 : is_plain ? "params and tags have =, !=, LIKE and ILIKE"
                                            : "this text has =, !=, LIKE, ILIKE, IN and NOT IN";
    return lexer_.error(at.column, fmt::format("{} is not possible here; {}",
                                               to_string(clause.comparison), possible));
  }

  Result<double> number() {
    if (token_.kind != Token::Kind::number)
      return lexer_.error(
          token_.column,
          fmt::format("expected a number without quotes, and found {}", in_words(token_)));
    const double value = token_.number;
    TRY(advance());
    return value;
  }

  Result<std::string> text() {
    if (token_.kind != Token::Kind::text)
      return lexer_.error(
          token_.column,
          fmt::format("expected a text in quotes, as in 'adam', and found {}", in_words(token_)));
    std::string value = std::move(token_.text);
    TRY(advance());
    return value;
  }

  bool takes_symbol(std::string_view symbol) const {
    return token_.kind == Token::Kind::symbol && token_.text == symbol;
  }
  Status expect(std::string_view symbol) {
    if (!takes_symbol(symbol))
      return lexer_.error(token_.column,
                          fmt::format("expected {}, and found {}", symbol, in_words(token_)));
    return advance();
  }

  Result<Words> words() {
    TRY(expect("("));
    Words words;
    for (;;) {
      if (words.size() == kMaxListedWords)
        return lexer_.error(token_.column,
                            fmt::format("a list has at most {} texts", kMaxListedWords));
      TRY_ASSIGN(std::string word, text());
      words.push_back(std::move(word));
      if (!takes_symbol(",")) break;
      TRY(advance());
    }
    TRY(expect(")"));
    return words;
  }

  FilterLexer lexer_;
  Token token_;
};

std::string quoted_text(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted.append(c == '\'' ? "''" : std::string(1, c));
  return quoted + "'";
}

std::string value_text(const Clause& clause) {
  if (const auto* number = std::get_if<double>(&clause.value)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&clause.value)) return quoted_text(*text);
  std::string list;
  for (const std::string& word : std::get<Words>(clause.value))
    list += (list.empty() ? "" : ", ") + quoted_text(word);
  return "(" + list + ")";
}

}  // namespace

std::string_view to_string(Comparison comparison) {
  switch (comparison) {
    case Comparison::equal: return "=";
    case Comparison::unequal: return "!=";
    case Comparison::less: return "<";
    case Comparison::less_or_equal: return "<=";
    case Comparison::greater: return ">";
    case Comparison::greater_or_equal: return ">=";
    case Comparison::like: return "LIKE";
    case Comparison::ilike: return "ILIKE";
    case Comparison::in: return "IN";
    case Comparison::not_in: return "NOT IN";
  }
  return "";
}

Result<Filter> parse_filter(std::string_view text) {
  if (text.size() > kMaxFilterBytes)
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("filter: has {} bytes, and {} are possible", text.size(), kMaxFilterBytes));
  return Parser(text).filter();
}

std::string to_string(const Filter& filter) {
  std::string text;
  for (const Clause& clause : filter) {
    const char quote = clause.field.key.find('`') == std::string::npos ? '`' : '"';
    text += fmt::format("{}{}.{}{}{} {} {}", text.empty() ? "" : " AND ",
                        to_string(clause.field.entity), quote, clause.field.key, quote,
                        to_string(clause.comparison), value_text(clause));
  }
  return text;
}

}  // namespace lockstep::metrics
