#include "common/base/size_flag.h"

#include <fmt/format.h>

#include <cctype>

namespace lockstep {

Result<Bytes> parse_size_flag(const std::string& flag, const std::string& text,
                              const std::string& examples) {
  const auto size = parse_bytes(text);
  if (!size || size->count == 0)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{}: '{}' is not a size; write {}", flag, text, examples));
  const auto last = static_cast<unsigned char>(text.back());
  const bool has_unit = std::isalpha(last) != 0;
  if (!has_unit && *size < mebibytes(1))
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{}: '{}' without a unit means {}; did you mean {}g? Write {}",
                                  flag, text, to_string(*size), text, examples));
  return *size;
}

}  // namespace lockstep
