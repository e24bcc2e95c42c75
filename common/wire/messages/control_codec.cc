#include "common/wire/messages/control_codec.h"

#include "common/wire/table_codec.h"
#include "proto/control.access.h"

namespace lockstep::pb {

// Writes a refusal. Earlier versions refuse a code that they do not know, and read `code` alone.
void to_wire(const lockstep::Refused& from, Refused* to) {
  write_table(from, to);
  const auto code = static_cast<ErrorCode>(describe(from.code).number);
  const bool is_new = from.code == lockstep::ErrorCode::unsatisfiable;
  to->set_code(is_new ? ERROR_CODE_INVALID_ARGUMENT : code);
  if (is_new) to->set_precise(code);
}
Status from_wire(const Refused& from, lockstep::Refused* to) {
  TRY(read_table(from, to));
  const auto code = from.precise() == ERROR_CODE_UNSPECIFIED ? from.code() : from.precise();
  return read_word(code, "refused.code", &to->code);
}

}  // namespace lockstep::pb
