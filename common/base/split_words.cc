#include "common/base/split_words.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace lockstep {

namespace {

constexpr std::string_view kBlanks = " \t\n\r";

Error bad(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::optional<std::string> word;  // absent between two words
  char quote = '\0';
  std::size_t quoted_at = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool last = i + 1 == text.size();
    if (quote != '\'' && c == '\\') {
      if (last) return bad("ends with a backslash that no character follows");
      const char next = text[++i];
      if (!word) word.emplace();
      if (quote == '"' && std::string_view("\"\\$`").find(next) == std::string_view::npos)
        *word += '\\';
      *word += next;
    } else if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else
        *word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      quoted_at = i;
      if (!word) word.emplace();
    } else if (kBlanks.find(c) == std::string_view::npos) {
      if (!word) word.emplace();
      *word += c;
    } else if (word) {
      words.push_back(*std::exchange(word, std::nullopt));
    }
  }
  if (quote != '\0')
    return bad(fmt::format("the quote {} at character {} is not closed", quote, quoted_at + 1));
  if (word) words.push_back(*std::move(word));
  return words;
}

}  // namespace lockstep
