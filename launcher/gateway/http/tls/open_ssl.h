#pragma once
// OpenSSL's objects as owners, and its errors as ours. Only for the files that speak TLS.

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace lockstep::http {

struct FreeOpenSsl {
  void operator()(BIO* bio) const { ::BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { ::EVP_PKEY_free(key); }
  void operator()(SSL* session) const { ::SSL_free(session); }
  void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
  void operator()(X509* certificate) const { ::X509_free(certificate); }
};
template <typename T>
using OpenSsl = std::unique_ptr<T, FreeOpenSsl>;

// "WHAT: the reason that OpenSSL gives", and forgets what else it remembers of this thread.
Error open_ssl_error(ErrorCode code, std::string_view what);

// A buffer to read these bytes from; they must outlive it.
OpenSsl<BIO> bytes_to_read(std::string_view bytes);
// What was written to a memory buffer; it is empty afterwards.
std::string take_bytes(BIO* memory);

}  // namespace lockstep::http
