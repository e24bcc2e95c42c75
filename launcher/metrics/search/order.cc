#include "launcher/metrics/search/order.h"

#include <fmt/format.h>

#include "launcher/metrics/search/filter_lexer.h"

namespace lockstep::metrics {

Result<Order> parse_order(std::string_view text) {
  if (text.size() > kMaxFilterBytes)
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("order_by: has {} bytes, and {} are possible", text.size(), kMaxFilterBytes));
  FilterLexer lexer(text, "order_by");
  Order order;
  TRY_ASSIGN(const Token name, lexer.next());
  TRY_ASSIGN(order.field, field_of(name, lexer));
  if (order.field.entity == Entity::dataset)
    return lexer.error(name.column, "runs cannot be sorted by a dataset");
  TRY_ASSIGN(Token token, lexer.next());
  order.ascending = !is_keyword(token, "DESC");
  if (!order.ascending || is_keyword(token, "ASC")) {
    TRY_ASSIGN(token, lexer.next());
  }
  if (token.kind != Token::Kind::end)
    return lexer.error(token.column,
                       fmt::format("expected ASC, DESC or the end, and found {}", in_words(token)));
  return order;
}

}  // namespace lockstep::metrics
