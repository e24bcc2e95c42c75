#include "launcher/gateway/http/tls/own_certificate.h"

#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <string_view>

#include "launcher/gateway/http/message/characters.h"
#include "launcher/gateway/http/tls/open_ssl.h"

namespace lockstep::http {
namespace {

constexpr std::time_t kSecondsBefore = 3'600, kSecondsOfDay = 24 * 3'600;
constexpr long kVersion3 = 2;  // as X.509 counts

Error not_made() { return open_ssl_error(ErrorCode::internal, "OpenSSL made no certificate"); }

// "DNS:localhost,IP:127.0.0.1". The text has a syntax of its own, so no name may hold a ','.
Result<std::string> alternative_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const bool is_plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
      return is_digit(c) || is_letter(c) || std::string_view("-._:*").find(c) != std::string::npos;
    });
    if (!is_plain)
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("a certificate cannot be made for the name '{}'; a host name "
                                    "has letters, digits, '-', '_' and '.'",
                                    name));
    const bool is_address =
        name.find(':') != std::string::npos ||
        std::all_of(name.begin(), name.end(), [](char c) { return is_digit(c) || c == '.'; });
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", is_address ? "IP" : "DNS", name);
  }
  if (text.empty())
    return make_error(ErrorCode::invalid_argument, "a certificate needs at least one name");
  return text;
}

bool add_extension(X509* certificate, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  ::X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = ::X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  if (extension == nullptr) return false;
  const bool is_added = ::X509_add_ext(certificate, extension, -1) == 1;
  ::X509_EXTENSION_free(extension);
  return is_added;
}

bool set_serial_number(X509* certificate) {
  std::array<unsigned char, 16> bytes{};
  if (::RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return false;
  bytes[0] &= 0x7f;  // a positive number
  BIGNUM* number = ::BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr);
  const bool is_set = number != nullptr &&
                      ::BN_to_ASN1_INTEGER(number, ::X509_get_serialNumber(certificate)) != nullptr;
  ::BN_free(number);
  return is_set;
}

bool set_times(X509* certificate, Instant now, int days) {
  const std::time_t seconds = now.ns / 1'000'000'000;
  return ::ASN1_TIME_set(::X509_getm_notBefore(certificate), seconds - kSecondsBefore) != nullptr &&
         ::ASN1_TIME_set(::X509_getm_notAfter(certificate), seconds + days * kSecondsOfDay) !=
             nullptr;
}

bool set_name(X509* certificate) {
  X509_NAME* name = ::X509_get_subject_name(certificate);
  constexpr std::string_view kName = "Lockstep gateway";
  return ::X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                      reinterpret_cast<const unsigned char*>(kName.data()),
                                      static_cast<int>(kName.size()), -1, 0) == 1 &&
         ::X509_set_issuer_name(certificate, name) == 1;
}

}  // namespace

Result<OwnCertificate> make_own_certificate(const std::vector<std::string>& names, Instant now,
                                            int days) {
  TRY_ASSIGN(const std::string alternatives, alternative_names(names));
  const OpenSsl<EVP_PKEY> key(::EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  const OpenSsl<X509> certificate(::X509_new());
  if (!key || !certificate) return not_made();
  X509* const x509 = certificate.get();
  const bool is_made = ::X509_set_version(x509, kVersion3) == 1 && set_serial_number(x509) &&
                       set_times(x509, now, days) && set_name(x509) &&
                       ::X509_set_pubkey(x509, key.get()) == 1 &&
                       add_extension(x509, NID_basic_constraints, "critical,CA:FALSE") &&
                       add_extension(x509, NID_key_usage, "critical,digitalSignature") &&
                       add_extension(x509, NID_ext_key_usage, "serverAuth") &&
                       add_extension(x509, NID_subject_alt_name, alternatives) &&
                       ::X509_sign(x509, key.get(), ::EVP_sha256()) > 0;
  const OpenSsl<BIO> certificate_text(::BIO_new(::BIO_s_mem())), key_text(::BIO_new(::BIO_s_mem()));
  if (!is_made || !certificate_text || !key_text ||
      ::PEM_write_bio_X509(certificate_text.get(), x509) != 1 ||
      ::PEM_write_bio_PKCS8PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                      nullptr) != 1)
    return not_made();
  return OwnCertificate{take_bytes(certificate_text.get()), take_bytes(key_text.get())};
}

}  // namespace lockstep::http
