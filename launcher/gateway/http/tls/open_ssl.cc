#include "launcher/gateway/http/tls/open_ssl.h"

#include <fmt/format.h>
#include <openssl/err.h>

#include "common/base/check.h"

namespace lockstep::http {

Error open_ssl_error(ErrorCode code, std::string_view what) {
  const unsigned long first = ::ERR_peek_error();
  const char* reason = first == 0 ? nullptr : ::ERR_reason_error_string(first);
  ::ERR_clear_error();
  return make_error(code, fmt::format("{}: {}", what, reason == nullptr ? "no reason" : reason));
}

OpenSsl<BIO> bytes_to_read(std::string_view bytes) {
  OpenSsl<BIO> bio(::BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
  CHECK(bio, "OpenSSL has no memory for a buffer");
  return bio;
}

std::string take_bytes(BIO* memory) {
  std::string bytes(::BIO_ctrl_pending(memory), '\0');
  if (bytes.empty()) return bytes;
  const int got = ::BIO_read(memory, bytes.data(), static_cast<int>(bytes.size()));
  CHECK(got == static_cast<int>(bytes.size()), "a memory buffer gave less than it holds");
  return bytes;
}

}  // namespace lockstep::http
