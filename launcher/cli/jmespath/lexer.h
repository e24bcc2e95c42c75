#pragma once
// Splits an expression into tokens.

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/cli/jmespath/node.h"

namespace lockstep::cli::jmespath {

enum class TokenKind {
  end,
  identifier,
  quoted_identifier,
  literal,
  number,
  symbol,  // text is one of . * [ ] [] [? ( ) { } , : @ & && | || ! == != < <= > >=
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::size_t at = 0;
  std::string text = {};
  Json value = {};  // the value of a literal
  std::int64_t number = 0;

  bool is(std::string_view symbol) const { return kind == TokenKind::symbol && text == symbol; }
};

// Splits a text into tokens. The last one is `end`.
Result<std::vector<Token>> tokens_of(std::string_view text);

// The token as an error names it: "'foo'", or "the end".
std::string shown(const Token& token);

}  // namespace lockstep::cli::jmespath
