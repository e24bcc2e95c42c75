#include "launcher/gateway/http/tls/tls.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <array>
#include <iterator>
#include <utility>

#include "common/base/check.h"
#include "launcher/gateway/http/tls/open_ssl.h"

namespace lockstep::http {
namespace {

constexpr int kRecordBytes = 16 << 10;

// "http/1.1" alone, as RFC 7301 writes lists. A client that speaks only something else is refused.
int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* in, unsigned int in_size, void*) {
  static constexpr unsigned char kOurs[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  if (::SSL_select_next_proto(&chosen, out_size, kOurs, sizeof kOurs - 1, in, in_size) !=
      OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

// OpenSSL would ask on the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

Error unusable(std::string_view what, const std::string& shown) {
  return open_ssl_error(ErrorCode::invalid_argument, fmt::format("{}: {}", shown, what));
}

bool set_protocol(SSL_CTX* context) {
  ::SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
  ::SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  ::SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);  // of thousands that are quiet
  ::SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  return ::SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
         ::SSL_CTX_set_num_tickets(context, 0) == 1 &&
         ::SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1;
}

// The chain behind the first certificate.
Status add_chain(SSL_CTX* context, BIO* certificates, const std::string& shown) {
  for (;;) {
    OpenSsl<X509> next(::PEM_read_bio_X509(certificates, nullptr, no_passphrase, nullptr));
    if (!next) break;
    if (::SSL_CTX_add1_chain_cert(context, next.get()) != 1)
      return unusable("a certificate of the chain cannot be used", shown);
  }
  const bool is_at_end = ERR_GET_REASON(::ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (!is_at_end) return unusable("a certificate of the chain cannot be read", shown);
  ::ERR_clear_error();
  return {};
}

std::string fingerprint_of(X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  CHECK(::X509_digest(certificate, ::EVP_sha256(), bytes.data(), &size) == 1,
        "OpenSSL cannot take a SHA-256 digest");
  std::string text;
  for (unsigned int i = 0; i < size; ++i)
    fmt::format_to(std::back_inserter(text), "{}{:02X}", i == 0 ? "" : ":", bytes[i]);
  return text;
}

}  // namespace

struct TlsContext::Impl {
  OpenSsl<SSL_CTX> context;
};

TlsContext::TlsContext(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsContext::~TlsContext() = default;

Result<std::shared_ptr<const TlsContext>> TlsContext::make(std::string_view certificates,
                                                           std::string_view key,
                                                           const std::string& shown) {
  ::ERR_clear_error();
  auto impl = std::make_unique<Impl>();
  impl->context.reset(::SSL_CTX_new(::TLS_server_method()));
  SSL_CTX* const context = impl->context.get();
  if (context == nullptr || !set_protocol(context))
    return open_ssl_error(ErrorCode::internal, "OpenSSL cannot serve TLS");
  const OpenSsl<BIO> certificates_text = bytes_to_read(certificates);
  const OpenSsl<X509> first(
      ::PEM_read_bio_X509_AUX(certificates_text.get(), nullptr, no_passphrase, nullptr));
  if (!first) return unusable("there is no certificate in PEM form", shown);
  if (::SSL_CTX_use_certificate(context, first.get()) != 1)
    return unusable("the certificate cannot be used", shown);
  TRY(add_chain(context, certificates_text.get(), shown));
  const OpenSsl<BIO> key_text = bytes_to_read(key);
  const OpenSsl<EVP_PKEY> private_key(
      ::PEM_read_bio_PrivateKey(key_text.get(), nullptr, no_passphrase, nullptr));
  if (!private_key) return unusable("there is no key in PEM form without a passphrase", shown);
  if (::SSL_CTX_use_PrivateKey(context, private_key.get()) != 1 ||
      ::SSL_CTX_check_private_key(context) != 1)
    return unusable("the key is not that of the certificate", shown);
  std::shared_ptr<TlsContext> made(new TlsContext(std::move(impl)));
  made->fingerprint_ = fingerprint_of(first.get());
  return std::shared_ptr<const TlsContext>(std::move(made));
}

struct TlsSession::Impl {
  std::shared_ptr<const TlsContext> context;
  OpenSsl<SSL> ssl;
  BIO* from_socket = nullptr;  // both are the session's
  BIO* to_socket = nullptr;
  std::string output;
  std::size_t written = 0;
  bool has_peer_closed = false;
  bool has_failed = false;

  void collect_output() {
    if (written == output.size()) {
      output.clear();
      written = 0;
    }
    output += take_bytes(to_socket);
  }
};

TlsSession::TlsSession(std::shared_ptr<const TlsContext> context)
    : impl_(std::make_unique<Impl>()) {
  impl_->ssl.reset(::SSL_new(context->impl_->context.get()));
  impl_->context = std::move(context);
  impl_->from_socket = ::BIO_new(::BIO_s_mem());
  impl_->to_socket = ::BIO_new(::BIO_s_mem());
  CHECK(impl_->ssl && impl_->from_socket != nullptr && impl_->to_socket != nullptr,
        "OpenSSL has no memory for a session");
  ::SSL_set_bio(impl_->ssl.get(), impl_->from_socket, impl_->to_socket);
  ::SSL_set_accept_state(impl_->ssl.get());
}

TlsSession::~TlsSession() = default;

Status TlsSession::received(std::string_view bytes, std::string& plain) {
  if (impl_->has_failed) return make_error(ErrorCode::corrupt, "the TLS session has failed");
  if (impl_->has_peer_closed || bytes.empty()) return {};
  ::ERR_clear_error();
  const int size = static_cast<int>(bytes.size());
  CHECK(::BIO_write(impl_->from_socket, bytes.data(), size) == size,
        "OpenSSL has no memory for what a client sent");
  SSL* const ssl = impl_->ssl.get();
  std::array<char, kRecordBytes> buffer;
  int error = SSL_ERROR_NONE;
  while (error == SSL_ERROR_NONE) {
    const int got = ::SSL_read(ssl, buffer.data(), kRecordBytes);
    error = ::SSL_get_error(ssl, got);
    if (got > 0) plain.append(buffer.data(), static_cast<std::size_t>(got));
  }
  impl_->collect_output();
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return {};
  if (error == SSL_ERROR_ZERO_RETURN) {
    impl_->has_peer_closed = true;
    return {};
  }
  impl_->has_failed = true;
  return open_ssl_error(ErrorCode::corrupt, "TLS");
}

bool TlsSession::is_established() const { return ::SSL_is_init_finished(impl_->ssl.get()) == 1; }
bool TlsSession::has_peer_closed() const { return impl_->has_peer_closed; }

Status TlsSession::write(std::string_view plain) {
  CHECK(is_established(), "an answer is sent before the handshake");
  if (impl_->has_failed) return make_error(ErrorCode::corrupt, "the TLS session has failed");
  ::ERR_clear_error();
  SSL* const ssl = impl_->ssl.get();
  if (!plain.empty() && ::SSL_write(ssl, plain.data(), static_cast<int>(plain.size())) <= 0) {
    impl_->has_failed = true;
    return open_ssl_error(ErrorCode::internal, "TLS");
  }
  impl_->collect_output();
  return {};
}

void TlsSession::close() {
  if (impl_->has_failed || !is_established()) return;
  ::ERR_clear_error();
  ::SSL_shutdown(impl_->ssl.get());
  ::ERR_clear_error();
  impl_->collect_output();
}

std::string_view TlsSession::output() const {
  return std::string_view(impl_->output).substr(impl_->written);
}

void TlsSession::wrote(std::size_t bytes) {
  CHECK(bytes <= output().size(), "more was written than there is");
  impl_->written += bytes;
}

}  // namespace lockstep::http
