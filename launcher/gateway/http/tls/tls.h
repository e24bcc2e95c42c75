#pragma once
// TLS by OpenSSL between memory buffers: no socket, no clock of ours. TLS 1.2 and 1.3, HTTP/1.1 by
// ALPN, no renegotiation, no compression, no client certificates.

#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace lockstep::http {

// A certificate chain and its key, as sessions use it. Immutable; a new one takes over for new
// connections when the operator renews the certificate.
class TlsContext {
 public:
  // PEM: the server's certificate, then those between it and a root; the key without a passphrase.
  // `shown`: where they come from, for errors ("/etc/lockstep/tls.crt").
  static Result<std::shared_ptr<const TlsContext>> make(std::string_view certificates,
                                                        std::string_view key,
                                                        const std::string& shown);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // SHA-256 of the server's certificate, as openssl x509 -fingerprint prints it: "AB:CD:…".
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  friend class TlsSession;
  struct Impl;
  explicit TlsContext(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  std::string fingerprint_;
};

// The server's side of one connection.
class TlsSession {
 public:
  explicit TlsSession(std::shared_ptr<const TlsContext> context);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // What came from the socket; what it decrypts to is appended to `plain`. An error ends the
  // connection; output() may still hold an alert that says why.
  Status received(std::string_view bytes, std::string& plain);
  bool is_established() const;
  // The client said that it sends no more.
  bool has_peer_closed() const;
  // After the handshake. All of it is encrypted at once, so the caller bounds it.
  Status write(std::string_view plain);
  void close();  // says that no more follows

  // What is to be written to the socket.
  std::string_view output() const;
  void wrote(std::size_t bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::http
