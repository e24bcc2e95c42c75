#pragma once
// The words of a filter or of an order. Only launcher/metrics/search uses it.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "launcher/metrics/search/field.h"

namespace lockstep::metrics {

struct Token {
  enum class Kind { word, text, number, symbol, end };
  Kind kind = Kind::end;
  // A word: as it was written, with its quotes. A text: what it holds. A symbol: "(", ">=", …
  std::string text;
  double number = 0;
  std::size_t column = 1;
};

class FilterLexer {
 public:
  // `what`: "filter" or "order_by", for errors.
  FilterLexer(std::string_view text, std::string_view what) : text_(text), what_(what) {}
  Result<Token> next();
  Error error(std::size_t column, const std::string& why) const;

 private:
  bool is_at_end() const { return at_ == text_.size(); }
  std::size_t column();
  void skip_blanks();
  Result<std::string> quoted(char quote);
  Result<Token> word(Token token);
  Result<Token> number(Token token);
  Token symbol(Token token);

  std::string_view text_;
  std::string_view what_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0, column_ = 1;  // the column of the byte `counted_`
};

// The token for people: "the end", "'metrics.loss'".
std::string in_words(const Token& token);

// Whether the token is this word of the language, in any case.
bool is_keyword(const Token& token, std::string_view keyword);

// What a word names: "metrics.loss", "params.`a b`", "start_time". A text in double quotes is an
// attribute. invalid_argument: "column 17: …".
Result<Field> field_of(const Token& token, const FilterLexer& lexer);

}  // namespace lockstep::metrics
