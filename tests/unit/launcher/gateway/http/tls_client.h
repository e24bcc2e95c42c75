#pragma once
// OpenSSL's client between buffers. It trusts any certificate.

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <string>
#include <string_view>

#include "launcher/gateway/http/tls/open_ssl.h"

namespace lockstep::http::test {

class TlsClient {
 public:
  // `protocols`: what it offers by ALPN, as RFC 7301 writes lists.
  explicit TlsClient(int newest = TLS1_3_VERSION,
                     std::string_view protocols = "\x02h2\x08http/1.1") {
    context_.reset(::SSL_CTX_new(::TLS_client_method()));
    ::SSL_CTX_set_security_level(context_.get(), 0);  // or it would not offer old versions
    ::SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
    ::SSL_CTX_set_max_proto_version(context_.get(), newest);
    EXPECT_EQ(::SSL_CTX_set_alpn_protos(context_.get(),
                                        reinterpret_cast<const unsigned char*>(protocols.data()),
                                        static_cast<unsigned int>(protocols.size())),
              0);
    ssl_.reset(::SSL_new(context_.get()));
    from_server_ = ::BIO_new(::BIO_s_mem());
    to_server_ = ::BIO_new(::BIO_s_mem());
    ::SSL_set_bio(ssl_.get(), from_server_, to_server_);
    ::SSL_set_connect_state(ssl_.get());
  }

  // Sent once the handshake is done.
  void write(std::string_view plain) {
    to_write_ += plain;
    move();
  }
  void received(std::string_view bytes) {
    if (!bytes.empty()) ::BIO_write(from_server_, bytes.data(), static_cast<int>(bytes.size()));
    move();
  }
  void close() {
    ::SSL_shutdown(ssl_.get());
    ::ERR_clear_error();
  }
  std::string take_output() { return take_bytes(to_server_); }
  std::string read() { return std::exchange(read_, ""); }
  bool has_peer_closed() const {
    return (::SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }
  std::string protocol() const {
    const unsigned char* name = nullptr;
    unsigned int size = 0;
    ::SSL_get0_alpn_selected(ssl_.get(), &name, &size);
    return std::string(reinterpret_cast<const char*>(name), size);
  }

 private:
  void move() {
    if (::SSL_do_handshake(ssl_.get()) == 1 && !to_write_.empty()) {
      ::SSL_write(ssl_.get(), to_write_.data(), static_cast<int>(to_write_.size()));
      to_write_.clear();
    }
    char buffer[16 << 10];
    for (int got = 0; (got = ::SSL_read(ssl_.get(), buffer, sizeof buffer)) > 0;)
      read_.append(buffer, static_cast<std::size_t>(got));
    ::ERR_clear_error();
  }

  OpenSsl<SSL_CTX> context_;
  OpenSsl<SSL> ssl_;
  BIO* from_server_ = nullptr;  // both are the session's
  BIO* to_server_ = nullptr;
  std::string to_write_, read_;
};

}  // namespace lockstep::http::test
