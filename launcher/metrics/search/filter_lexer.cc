#include "launcher/metrics/search/filter_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include "common/base/cut.h"

namespace lockstep::metrics {

namespace {

constexpr std::size_t kMostOfAWord = 60;  // in an error

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
// Of a key without quotes. Bytes beyond ASCII are letters of other scripts.
bool is_of_word(char c) {
  return is_letter(c) || is_digit(c) || c == '.' || c == '/' || c == '-' || (c & 0x80) != 0;
}

constexpr std::array<std::pair<std::string_view, Entity>, 14> kEntities = {{
    {"metrics", Entity::metric},
    {"metric", Entity::metric},
    {"params", Entity::parameter},
    {"param", Entity::parameter},
    {"parameters", Entity::parameter},
    {"parameter", Entity::parameter},
    {"tags", Entity::tag},
    {"tag", Entity::tag},
    {"attributes", Entity::attribute},
    {"attribute", Entity::attribute},
    {"attr", Entity::attribute},
    {"run", Entity::attribute},
    {"datasets", Entity::dataset},
    {"dataset", Entity::dataset},
}};

constexpr std::array<std::pair<std::string_view, Attribute>, 12> kAttributes = {{
    {"run_id", Attribute::run_id},
    {"run_name", Attribute::run_name},
    {"run name", Attribute::run_name},
    {"Run name", Attribute::run_name},
    {"Run Name", Attribute::run_name},
    {"status", Attribute::status},
    {"user_id", Attribute::user_id},
    {"artifact_uri", Attribute::artifact_uri},
    {"start_time", Attribute::start_time},
    {"created", Attribute::start_time},
    {"Created", Attribute::start_time},
    {"end_time", Attribute::end_time},
}};

constexpr std::array<std::string_view, 3> kDatasetKeys = {"name", "digest", "context"};

// What a name stands for; null: it is none of the table.
template <typename Value, std::size_t size>
const Value* find_in(const std::array<std::pair<std::string_view, Value>, size>& table,
                     std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.first == name; });
  return found == table.end() ? nullptr : &found->second;
}

std::string_view without_quotes(std::string_view text) {
  const bool is_quoted = text.size() >= 2 && text.front() == text.back() &&
                         (text.front() == '`' || text.front() == '"');
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

Error FilterLexer::error(std::size_t column, const std::string& why) const {
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("{}: column {}: {}", what_, column, why));
}

// Of at_; characters, not bytes.
std::size_t FilterLexer::column() {
  for (; counted_ < at_; ++counted_)
    column_ += (static_cast<unsigned char>(text_[counted_]) & 0xc0) != 0x80 ? 1 : 0;
  return column_;
}

void FilterLexer::skip_blanks() {
  while (!is_at_end() && is_blank(text_[at_])) ++at_;
}

// What stands between the quote here and the next one that is not doubled.
Result<std::string> FilterLexer::quoted(char quote) {
  const std::size_t begins_at = column();
  std::string inside;
  for (++at_; !is_at_end(); ++at_) {
    if (text_[at_] == quote) {
      const bool is_doubled = quote == '\'' && at_ + 1 < text_.size() && text_[at_ + 1] == quote;
      if (!is_doubled) {
        ++at_;
        return inside;
      }
      ++at_;
    }
    inside += text_[at_];
  }
  return error(begins_at, fmt::format("the quote {} has no end", quote));
}

// The key behind the first dot may be quoted: metrics."val loss".
Result<Token> FilterLexer::word(Token token) {
  token.kind = Token::Kind::word;
  while (!is_at_end() && is_of_word(text_[at_])) token.text += text_[at_++];
  const bool quotes_follow = !is_at_end() && (text_[at_] == '`' || text_[at_] == '"');
  if (!quotes_follow || (!token.text.empty() && token.text.back() != '.')) return token;
  const char quote = text_[at_];
  TRY_ASSIGN(const std::string key, quoted(quote));
  token.text += quote + key + quote;
  return token;
}

Result<Token> FilterLexer::number(Token token) {
  token.kind = Token::Kind::number;
  const std::size_t begin = at_;
  while (!is_at_end() && (is_of_word(text_[at_]) || text_[at_] == '+')) ++at_;
  std::string_view digits = text_.substr(begin, at_ - begin);
  token.text = std::string(digits);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const auto [end, failed] =
      std::from_chars(digits.data(), digits.data() + digits.size(), token.number);
  if (failed != std::errc() || end != digits.data() + digits.size())
    return error(token.column, fmt::format("'{}' is not a number", cut(token.text, kMostOfAWord)));
  return token;
}

// Of what might be comparisons, all that stand together.
Token FilterLexer::symbol(Token token) {
  constexpr std::string_view kOfComparisons = "<>=!~";
  token.kind = Token::Kind::symbol;
  token.text += text_[at_++];
  while (kOfComparisons.find(token.text[0]) != kOfComparisons.npos && !is_at_end() &&
         kOfComparisons.find(text_[at_]) != kOfComparisons.npos)
    token.text += text_[at_++];
  return token;
}

Result<Token> FilterLexer::next() {
  skip_blanks();
  Token token;
  token.column = column();
  if (is_at_end()) return token;
  const char c = text_[at_];
  const bool sign = (c == '-' || c == '+' || c == '.') && at_ + 1 < text_.size();
  if (is_digit(c) || (sign && (is_digit(text_[at_ + 1]) || text_[at_ + 1] == '.')))
    return number(std::move(token));
  if (c == '\'' || c == '"') {
    token.kind = Token::Kind::text;
    TRY_ASSIGN(token.text, quoted(c));
    return token;
  }
  if (is_of_word(c) || c == '`') return word(std::move(token));
  return symbol(std::move(token));
}

std::string in_words(const Token& token) {
  if (token.kind == Token::Kind::end) return "the end";
  return fmt::format("'{}'", cut(token.text, kMostOfAWord));
}

bool is_keyword(const Token& token, std::string_view keyword) {
  const auto same = [](char a, char b) { return (a & ~0x20) == (b & ~0x20); };
  return token.kind == Token::Kind::word && token.text.size() == keyword.size() &&
         std::equal(keyword.begin(), keyword.end(), token.text.begin(), same);
}

Result<Field> field_of(const Token& token, const FilterLexer& lexer) {
  if (token.kind != Token::Kind::word && token.kind != Token::Kind::text)
    return lexer.error(
        token.column,
        fmt::format("expected a name, as in metrics.loss, and found {}", in_words(token)));
  const std::string_view text = token.text;
  const bool is_whole = token.kind == Token::Kind::text || text.starts_with('`');
  const auto dot = is_whole ? text.npos : text.find('.');
  Field field;
  field.entity = Entity::attribute;
  if (dot != text.npos) {
    const Entity* const entity = find_in(kEntities, text.substr(0, dot));
    if (entity == nullptr)
      return lexer.error(token.column,
                         fmt::format("there is no '{}'; possible are metrics, params, tags, "
                                     "attributes and datasets",
                                     cut(std::string(text.substr(0, dot)), kMostOfAWord)));
    field.entity = *entity;
  }
  field.key = without_quotes(dot == text.npos ? text : text.substr(dot + 1));
  if (field.key.empty())
    return lexer.error(token.column, fmt::format("{} names no key", in_words(token)));
  const std::string key = cut(field.key, kMostOfAWord);
  if (field.entity == Entity::dataset &&
      std::find(kDatasetKeys.begin(), kDatasetKeys.end(), field.key) == kDatasetKeys.end())
    return lexer.error(token.column, fmt::format("a dataset has no '{}'; it has name, digest and "
                                                 "context",
                                                 key));
  if (field.entity != Entity::attribute) return field;
  const Attribute* const attribute = find_in(kAttributes, field.key);
  if (attribute == nullptr)
    return lexer.error(
        token.column,
        fmt::format("a run has no attribute '{}'; it has run_id, run_name, status, user_id, "
                    "artifact_uri, start_time and end_time; a metric is metrics.NAME",
                    key));
  field.attribute = *attribute;
  field.key = to_string(*attribute);
  return field;
}

}  // namespace lockstep::metrics
