// TLS between buffers, against OpenSSL's own client.

#include "launcher/gateway/http/tls/tls.h"

#include <gtest/gtest.h>
#include <openssl/err.h>

#include "launcher/gateway/http/tls/open_ssl.h"
#include "launcher/gateway/http/tls/own_certificate.h"
#include "tests/unit/launcher/gateway/http/tls_client.h"

namespace lockstep::http {
namespace {

using test::TlsClient;

constexpr Instant kNow{1'700'000'000'000'000'000};

OwnCertificate some_certificate() {
  return make_own_certificate({"localhost", "127.0.0.1", "::1"}, kNow, 365).value();
}
std::shared_ptr<const TlsContext> some_context() {
  const OwnCertificate own = some_certificate();
  return TlsContext::make(own.certificate, own.key, "test").value();
}

// Carries bytes between the two until neither says more; what the server decrypted.
std::string carry(TlsClient& client, TlsSession& server, std::size_t piece = 1 << 20) {
  std::string plain;
  for (;;) {
    const std::string to_server = client.take_output();
    for (std::size_t at = 0; at < to_server.size(); at += piece)
      if (!server.received(std::string_view(to_server).substr(at, piece), plain)) return plain;
    const std::string to_client(server.output());
    server.wrote(to_client.size());
    client.received(to_client);
    if (to_server.empty() && to_client.empty()) return plain;
  }
}

TEST(Tls, CarriesBytesBothWays) {
  TlsClient client;
  TlsSession server(some_context());
  EXPECT_FALSE(server.is_established());
  client.write("hello");
  EXPECT_EQ(carry(client, server), "hello");
  EXPECT_TRUE(server.is_established());
  ASSERT_TRUE(server.write(std::string(100'000, 'x')));
  carry(client, server);
  EXPECT_EQ(client.read(), std::string(100'000, 'x'));
  EXPECT_EQ(client.protocol(), "http/1.1");
}

TEST(Tls, ItDoesNotMatterHowBytesAreCut) {
  TlsClient client;
  TlsSession server(some_context());
  client.write("hello");
  EXPECT_EQ(carry(client, server, 1), "hello");
}

TEST(Tls, EndsAreSaid) {
  TlsClient client;
  TlsSession server(some_context());
  client.write("hello");
  carry(client, server);
  server.close();
  carry(client, server);
  EXPECT_TRUE(client.has_peer_closed());
  EXPECT_FALSE(server.has_peer_closed());
  client.close();
  carry(client, server);
  EXPECT_TRUE(server.has_peer_closed());
}

TEST(Tls, WhatIsNoTlsIsRefused) {
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), std::string(100, '\0'),
        std::string("\x16\x03\x01\xff\xff", 5) + std::string(70'000, 'x'),
        std::string("\x80\x2e\x01\x03\x01", 5) + std::string(50, 'x')}) {
    TlsSession server(some_context());
    std::string plain;
    const Status status = server.received(bytes, plain);
    EXPECT_FALSE(status);
    EXPECT_EQ(plain, "");
    EXPECT_FALSE(server.received("more", plain)) << "it stays so";
    EXPECT_EQ(::ERR_peek_error(), 0U) << "no error is left to the next session";
  }
}

TEST(Tls, OlderVersionsAreRefused) {
  TlsClient client(TLS1_1_VERSION);
  TlsSession server(some_context());
  client.write("hello");
  carry(client, server);
  EXPECT_FALSE(server.is_established());
}

TEST(Tls, AClientThatSpeaksOnlyHttp2IsRefused) {
  TlsClient client(TLS1_3_VERSION, "\x02h2");
  TlsSession server(some_context());
  client.write("hello");
  carry(client, server);
  EXPECT_FALSE(server.is_established());
}

TEST(Tls, BadCertificatesAreNamed) {
  const OwnCertificate own = some_certificate(), other = some_certificate();
  const auto why = [](const std::string& certificate, const std::string& key) {
    const auto made = TlsContext::make(certificate, key, "/etc/lockstep/tls.crt");
    return made ? "" : made.error().message;
  };
  EXPECT_EQ(why(own.certificate, own.key), "");
  EXPECT_EQ(why(own.certificate + other.certificate, own.key), "") << "a chain";
  for (const auto& [certificate, key] : std::vector<std::pair<std::string, std::string>>{
           {"", own.key},
           {"text", own.key},
           {own.key, own.key},
           {own.certificate, ""},
           {own.certificate, "text"},
           {own.certificate, own.certificate},
           {own.certificate, other.key},
           {own.certificate.substr(0, own.certificate.size() / 2), own.key},
           {own.certificate + own.certificate.substr(0, own.certificate.size() / 2), own.key}})
    EXPECT_TRUE(why(certificate, key).starts_with("/etc/lockstep/tls.crt: "))
        << why(certificate, key);
}

TEST(Tls, AFingerprintIsThatOfTheCertificate) {
  const auto context = some_context();
  EXPECT_EQ(context->fingerprint().size(), 32U * 3 - 1);
  EXPECT_NE(context->fingerprint(), some_context()->fingerprint());
}

TEST(OwnCertificateTest, NamesAreChecked) {
  EXPECT_TRUE(make_own_certificate({"*.localhost", "a_b"}, kNow, 1));
  for (const auto& names : std::vector<std::vector<std::string>>{
           {}, {""}, {"a,DNS:evil.org"}, {"a b"}, {"a\n"}, {"a", "email:x@y"}})
    EXPECT_FALSE(make_own_certificate(names, kNow, 1));
}

}  // namespace
}  // namespace lockstep::http
