#include "launcher/cli/jmespath/lexer.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace lockstep::cli::jmespath {
namespace {

// Symbols of two characters come first, since the first match is taken.
constexpr std::array<std::string_view, 24> kSymbols{
    "[]", "[?", "&&", "||", "==", "!=", "<=", ">=", ".", "*", "[", "]",
    "(",  ")",  "{",  "}",  ",",  ":",  "@",  "&",  "|", "!", "<", ">"};

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> all() {
    std::vector<Token> tokens;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++at_;
        continue;
      }
      begin_ = at_;
      TRY_ASSIGN(Token token, next(c));
      tokens.push_back(std::move(token));
    }
    tokens.push_back({TokenKind::end, text_.size()});
    return tokens;
  }

 private:
  Result<Token> next(char c) {
    if (begins_name(c)) return name();
    if (is_digit(c) || c == '-') return number();
    if (c == '"') return quoted_identifier();
    if (c == '\'') return raw_string();
    if (c == '`') return literal();
    for (const std::string_view symbol : kSymbols)
      if (text_.substr(at_, symbol.size()) == symbol) {
        at_ += symbol.size();
        return Token{TokenKind::symbol, begin_, std::string(symbol)};
      }
    if (c == '=') return fault("'=' is not an operator; write == for equality");
    if (c == '$' || c == '#' || c == '~' || static_cast<unsigned char>(c) >= 0x80 || c == '/')
      return fault("a name of other characters than letters, digits and _ stands in \"\"");
    return fault(fmt::format("unexpected character '{}'", c));
  }

  Error fault(const std::string& why) const { return fault_at(text_, begin_, why); }

  Token name() {
    while (at_ < text_.size() && (begins_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
    return {TokenKind::identifier, begin_, std::string(text_.substr(begin_, at_ - begin_))};
  }

  Result<Token> number() {
    ++at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    Token token{TokenKind::number, begin_, std::string(text_.substr(begin_, at_ - begin_))};
    const char* end = token.text.data() + token.text.size();
    const auto [stop, failure] = std::from_chars(token.text.data(), end, token.number);
    if (stop != end) return fault("'-' stands before the digits of an index only");
    if (failure != std::errc{}) return fault("this index is too large");
    return token;
  }

  // The text between two `quote`s; escapes stay as written.
  Result<std::string_view> between(char quote, const char* what) {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == quote) {
        ++at_;
        return text_.substr(begin_ + 1, at_ - begin_ - 2);
      }
    }
    return fault(fmt::format("this {} has no closing {}", what, quote));
  }

  static std::string without_escape_of(char quote, std::string_view inside) {
    std::string text;
    for (std::size_t i = 0; i < inside.size(); ++i) {
      if (inside[i] == '\\' && i + 1 < inside.size()) {
        if (inside[i + 1] != quote) text += inside[i];
        ++i;
      }
      text += inside[i];
    }
    return text;
  }

  Result<Token> quoted_identifier() {
    TRY(between('"', "name"));
    const auto parsed = Json::parse(text_.substr(begin_, at_ - begin_), nullptr, false);
    if (!parsed.is_string()) return fault("this name is not a JSON string");
    return Token{TokenKind::quoted_identifier, begin_, parsed.get<std::string>()};
  }

  Result<Token> raw_string() {
    TRY_ASSIGN(const std::string_view inside, between('\'', "string"));
    return Token{TokenKind::literal, begin_, std::string(text_.substr(begin_, at_ - begin_)),
                 without_escape_of('\'', inside)};
  }

  Result<Token> literal() {
    TRY_ASSIGN(const std::string_view inside, between('`', "literal"));
    std::string text = without_escape_of('`', inside);
    text.erase(0, text.find_first_not_of(" \t\n\r"));
    Json value = Json::parse(text, nullptr, false);
    if (value.is_discarded()) value = Json::parse('"' + text + '"', nullptr, false);
    if (value.is_discarded())
      return fault("this literal is not JSON; write a string as 'text', and others as `[1, 2]`");
    return Token{TokenKind::literal, begin_, std::string(text_.substr(begin_, at_ - begin_)),
                 std::move(value)};
  }

  std::string_view text_;
  std::size_t at_ = 0, begin_ = 0;
};

}  // namespace

Result<std::vector<Token>> tokens_of(std::string_view text) { return Lexer(text).all(); }

std::string shown(const Token& token) {
  if (token.kind == TokenKind::end) return "the end";
  return token.kind == TokenKind::quoted_identifier ? fmt::format("\"{}\"", token.text)
                                                    : fmt::format("'{}'", token.text);
}

}  // namespace lockstep::cli::jmespath
