#include "common/wire/why_bytes.h"

#include "common/wire/why_codec.h"

namespace lockstep::wire {

std::string encode_why(const Why& why) {
  if (!why) return {};
  pb::Why message;
  pb::to_wire(why, &message);
  return message.SerializeAsString();
}

Result<Why> decode_why(std::string_view bytes) {
  if (bytes.empty()) return Why();
  pb::Why message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return make_error(ErrorCode::invalid_argument, "the reason cannot be decoded");
  Why why;
  TRY(pb::from_wire(message, &why));
  return why;
}

}  // namespace lockstep::wire
