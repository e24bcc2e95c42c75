// An operator-precedence parser: `prefix` parses the beginning of an expression, and `infix` what
// follows, while it binds more tightly than the operator on the left.

#include <fmt/format.h>

#include <algorithm>

#include "launcher/cli/jmespath/functions.h"
#include "launcher/cli/jmespath/lexer.h"

namespace lockstep::cli::jmespath {
namespace {

constexpr std::size_t kMaxText = 65536;
constexpr int kMaxDepth = 500;  // the deepest nesting, because the tree is walked recursively

// How tightly a symbol binds to the expression on its left.
struct Binding {
  std::string_view symbol;
  int power;
};
constexpr Binding kBindings[] = {{"|", 1},  {"||", 2}, {"&&", 3}, {"==", 5}, {"!=", 5}, {"<", 5},
                                 {"<=", 5}, {">", 5},  {">=", 5}, {"[]", 9}, {"*", 20}, {"[?", 21},
                                 {".", 40}, {"!", 45}, {"{", 50}, {"[", 55}, {"(", 60}};
constexpr int kOr = 2, kAnd = 3, kComparison = 5, kFlatten = 9, kStar = 20, kFilter = 21, kDot = 40,
              kNot = 45;
constexpr int kEndsProjection = 10;  // weaker operators apply to the whole projection

int power_of(const Token& token) {
  if (token.kind != TokenKind::symbol) return 0;
  for (const Binding& binding : kBindings)
    if (token.text == binding.symbol) return binding.power;
  return 0;
}

Node make(NodeKind kind, std::size_t at, std::vector<Node> children = {}) {
  Node node;
  node.kind = kind;
  node.at = at;
  node.children = std::move(children);
  return node;
}

std::vector<Node> list(Node first, Node second) {
  std::vector<Node> nodes;
  nodes.push_back(std::move(first));
  nodes.push_back(std::move(second));
  return nodes;
}

class Parser {
 public:
  Parser(std::string_view text, std::vector<Token> tokens)
      : text_(text), tokens_(std::move(tokens)) {}

  Result<Node> whole() {
    if (now().kind == TokenKind::end)
      return fault("the expression is empty; @ stands for the whole answer");
    TRY_ASSIGN(Node node, expression(0));
    if (now().kind != TokenKind::end)
      return fault(fmt::format("unexpected {} after a complete expression", shown(now())));
    return node;
  }

 private:
  const Token& now() const { return tokens_[at_]; }
  const Token& ahead(std::size_t by) const {
    return tokens_[std::min(at_ + by, tokens_.size() - 1)];
  }
  Error fault(const std::string& why) const { return fault_at(text_, now().at, why); }

  Token take() { return tokens_[now().kind == TokenKind::end ? at_ : at_++]; }

  Status expect(std::string_view symbol, std::string_view where) {
    if (!now().is(symbol))
      return fault(fmt::format("expected '{}' {}, not {}", symbol, where, shown(now())));
    take();
    return {};
  }

  Result<Node> expression(int power) {
    const int outer = depth_;
    if (++depth_ > kMaxDepth) return too_deep();
    TRY_ASSIGN(Node left, prefix());
    while (power < power_of(now())) {
      if (++depth_ > kMaxDepth) return too_deep();
      TRY_ASSIGN(left, infix(std::move(left)));
    }
    depth_ = outer;
    return left;
  }
  Error too_deep() const {
    return fault(fmt::format("more than {} levels of expressions", kMaxDepth));
  }

  Result<Node> prefix() {
    const Token token = take();
    Node node = make(NodeKind::current, token.at);
    switch (token.kind) {
      case TokenKind::literal:
        node.kind = NodeKind::literal;
        node.value = token.value;
        return node;
      case TokenKind::identifier:
      case TokenKind::quoted_identifier:
        node.kind = NodeKind::field;
        node.name = token.text;
        if (token.kind == TokenKind::quoted_identifier && now().is("("))
          return fault("a function's name stands without quotes");
        return node;
      case TokenKind::end:
        return fault("the expression ends where a name, a function or a bracket is expected");
      case TokenKind::number:
        return fault_at(text_, token.at,
                        fmt::format("a number is written `{0}`, or [{0}] as an index", token.text));
      case TokenKind::symbol: break;
    }
    return bracket_or_sign(token);
  }

  Result<Node> bracket_or_sign(const Token& token) {
    if (token.is("@")) return make(NodeKind::current, token.at);
    if (token.is("*")) return projection(NodeKind::value_projection, token, identity(token), kStar);
    if (token.is("[?")) return filter(token, identity(token));
    if (token.is("[]")) return flatten(token, identity(token));
    if (token.is("{")) return multi_object(token);
    if (token.is("(")) {
      TRY_ASSIGN(Node inside, expression(0));
      TRY(expect(")", "at the end of the parenthesis"));
      return inside;
    }
    if (token.is("!")) return one(NodeKind::negation, token, kNot);
    if (token.is("&")) return one(NodeKind::reference, token, 0);
    if (token.is("[")) {
      if (begins_index()) return index(token, identity(token));
      if (now().is("*") && ahead(1).is("]")) return star_index(token, identity(token));
      return multi_list(token);
    }
    return fault_at(
        text_, token.at,
        fmt::format("unexpected {}; a name, a function or a bracket is expected", shown(token)));
  }

  Result<Node> infix(Node left) {
    const Token token = take();
    if (token.is(".")) {
      if (now().is("*")) {
        take();
        return projection(NodeKind::value_projection, token, std::move(left), kDot);
      }
      TRY_ASSIGN(Node right, after_dot(kDot));
      return make(NodeKind::chain, token.at, list(std::move(left), std::move(right)));
    }
    if (token.is("|")) return pair(NodeKind::chain, token, std::move(left), 1);
    if (token.is("||")) return pair(NodeKind::either, token, std::move(left), kOr);
    if (token.is("&&")) return pair(NodeKind::both, token, std::move(left), kAnd);
    if (token.is("(")) return function(token, std::move(left));
    if (token.is("[?")) return filter(token, std::move(left));
    if (token.is("[]")) return flatten(token, std::move(left));
    if (token.is("[")) {
      if (begins_index()) return index(token, std::move(left));
      return star_index(token, std::move(left));
    }
    if (power_of(token) == kComparison) {
      TRY_ASSIGN(Node node, pair(NodeKind::comparison, token, std::move(left), kComparison));
      node.name = token.text;
      return node;
    }
    return fault_at(text_, token.at,
                    fmt::format("unexpected {} after an expression", shown(token)));
  }

  static Node identity(const Token& token) { return make(NodeKind::current, token.at); }

  Result<Node> one(NodeKind kind, const Token& token, int power) {
    TRY_ASSIGN(Node inside, expression(power));
    Node node = make(kind, token.at);
    node.children.push_back(std::move(inside));
    return node;
  }

  Result<Node> pair(NodeKind kind, const Token& token, Node left, int power) {
    TRY_ASSIGN(Node right, expression(power));
    return make(kind, token.at, list(std::move(left), std::move(right)));
  }

  // Parses the expression that is applied to each element of a projection.
  Result<Node> of_each(int power) {
    if (power_of(now()) < kEndsProjection) return identity(now());
    if (now().is("[") || now().is("[?")) return expression(power);
    if (now().is(".")) {
      take();
      return after_dot(power);
    }
    return fault(fmt::format("unexpected {} after a projection", shown(now())));
  }

  Result<Node> after_dot(int power) {
    const bool is_name =
        now().kind == TokenKind::identifier || now().kind == TokenKind::quoted_identifier;
    if (is_name || now().is("*")) return expression(power);
    if (now().is("[")) {
      const Token token = take();
      return multi_list(token);
    }
    if (now().is("{")) {
      const Token token = take();
      return multi_object(token);
    }
    return fault(fmt::format("expected a name, *, [ or {{ after '.', not {}", shown(now())));
  }

  Result<Node> projection(NodeKind kind, const Token& token, Node left, int power) {
    TRY_ASSIGN(Node right, of_each(power));
    return make(kind, token.at, list(std::move(left), std::move(right)));
  }

  Result<Node> flatten(const Token& token, Node left) {
    Node flat = make(NodeKind::flatten, token.at);
    flat.children.push_back(std::move(left));
    return projection(NodeKind::projection, token, std::move(flat), kFlatten);
  }

  Result<Node> filter(const Token& token, Node left) {
    TRY_ASSIGN(Node condition, expression(0));
    TRY(expect("]", "at the end of the filter"));
    TRY_ASSIGN(Node right, of_each(kFilter));
    Node node =
        make(NodeKind::filter_projection, token.at, list(std::move(left), std::move(right)));
    node.children.push_back(std::move(condition));
    return node;
  }

  bool begins_index() const { return now().kind == TokenKind::number || now().is(":"); }

  Result<Node> star_index(const Token& token, Node left) {
    if (!now().is("*"))
      return fault(
          fmt::format("expected an index, a slice, * or ? after '[', not {}", shown(now())));
    take();
    TRY(expect("]", "after '[*'"));
    return projection(NodeKind::projection, token, std::move(left), kStar);
  }

  Result<Node> index(const Token& token, Node left) {
    Node node = make(NodeKind::index, token.at);
    std::size_t part = 0;
    bool is_filled = false;
    while (!now().is("]")) {
      if (now().is(":") && part < 2) {
        node.kind = NodeKind::slice;
        ++part;
        is_filled = false;
      } else if (now().kind == TokenKind::number && !is_filled) {
        node.numbers[part] = now().number;
        is_filled = true;
      } else {
        return fault(fmt::format("expected [INDEX] or [START:STOP:STEP], not {}", shown(now())));
      }
      take();
    }
    take();
    if (node.kind == NodeKind::slice && node.numbers[2] == 0)
      return fault_at(text_, token.at, "the step of a slice must not be 0");
    const bool is_slice = node.kind == NodeKind::slice;
    Node picked = make(NodeKind::chain, token.at, list(std::move(left), std::move(node)));
    if (!is_slice) return picked;
    return projection(NodeKind::projection, token, std::move(picked), kStar);
  }

  Result<Node> multi_list(const Token& token) {
    Node node = make(NodeKind::multi_list, token.at);
    do {
      TRY_ASSIGN(Node element, expression(0));
      node.children.push_back(std::move(element));
    } while (comma());
    TRY(expect("]", "or ',' in a list"));
    return node;
  }

  Result<Node> multi_object(const Token& token) {
    Node node = make(NodeKind::multi_object, token.at);
    do {
      const Token key = take();
      if (key.kind != TokenKind::identifier && key.kind != TokenKind::quoted_identifier)
        return fault_at(text_, key.at, fmt::format("expected a key in {{}}, not {}", shown(key)));
      TRY(expect(":", "after a key"));
      TRY_ASSIGN(Node element, expression(0));
      node.names.push_back(key.text);
      node.children.push_back(std::move(element));
    } while (comma());
    TRY(expect("}", "or ',' in an object"));
    return node;
  }

  Result<Node> function(const Token& token, Node left) {
    if (left.kind != NodeKind::field)
      return fault_at(text_, token.at, "a parenthesis follows the name of a function only");
    Node node = make(NodeKind::function, left.at);
    node.name = left.name;
    if (now().is(")")) {
      take();
    } else {
      do {
        TRY_ASSIGN(Node argument, expression(0));
        node.children.push_back(std::move(argument));
      } while (comma());
      TRY(expect(")", "or ',' after an argument"));
    }
    // The call is checked now: `lockstep run` parses its query before the job is sent.
    if (const Status good = check_call(node.name, node.children.size()); !good)
      return fault_at(text_, node.at, good.error().message);
    return node;
  }

  bool comma() {
    if (!now().is(",")) return false;
    take();
    return true;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Error fault_at(std::string_view text, std::size_t at, const std::string& why) {
  std::size_t column = 1;
  for (std::size_t i = 0; i < std::min(at, text.size()); ++i)
    column += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80 ? 1 : 0;
  return make_error(ErrorCode::invalid_argument, fmt::format("column {}: {}", column, why));
}

Result<Node> parse(std::string_view text) {
  if (text.size() > kMaxText)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("the expression has more than {} bytes", kMaxText));
  TRY_ASSIGN(std::vector<Token> tokens, tokens_of(text));
  return Parser(text, std::move(tokens)).whole();
}

}  // namespace lockstep::cli::jmespath
