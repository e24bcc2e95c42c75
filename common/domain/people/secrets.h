#pragma once
// Secrets of a user: texts that the launcher keeps encrypted and passes to ranks in environment
// variables. A job refers to its owner's secrets as ${{secrets.NAME}}, only in values of
// environment_variables. No job, fact, log or file holds the text unencrypted.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/table.h"
#include "common/base/time.h"

namespace lockstep {

inline constexpr std::size_t kMaxSecretNameBytes = 128;
inline constexpr std::size_t kMaxSecretBytes = 64u << 10;
inline constexpr std::size_t kMaxSecretsPerUser = 256;
inline constexpr std::size_t kMaxSecretBytesPerUser = 256u << 10;

// Letters, digits and '_', not beginning with a digit.
Status validate_secret_name(const std::string& name);
// Checks that a value is neither empty nor too long and has no NUL bytes, which no variable can
// hold. Errors never show the value.
Status validate_secret_value(const std::string& value);

inline constexpr std::string_view kSecretOpen = "${{secrets.";
// "${{secrets.NAME}}".
std::string secret_expression(std::string_view name);
// The names in all expressions of `text`. invalid_argument: an expression has an invalid name or no
// closing "}}".
Result<std::set<std::string>> secrets_named_in(const std::string& text);
// The names in the values of environment_variables; values with an invalid expression are skipped.
std::set<std::string> secrets_of(const std::map<std::string, std::string>& variables);
using SecretValues = std::map<std::string, std::string>;
// Replaces each expression in `text`; expressions within values stay. Returns not_found with the
// name of a secret that `values` lacks.
Result<std::string> put_in_secrets(const std::string& text, const SecretValues& values);

// ---- requests and views ------------------------------------------------------------------------

struct SetSecret {  // a secret of the asking user; answered by Done
  static constexpr int kBody = 240;
  std::string name;
  std::string value;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kUserNameRule);
    see(field<2>, "value", s.value, {.bytes = kMaxSecretBytesPerUser});
  }
  friend bool operator==(const SetSecret&, const SetSecret&) = default;
};
struct RemoveSecret {
  static constexpr int kBody = 241;
  std::string name;
  static void table(auto& s, auto&& see) { see(field<1>, "name", s.name, kUserNameRule); }
  friend bool operator==(const RemoveSecret&, const RemoveSecret&) = default;
};
struct ListSecrets {
  static constexpr int kBody = 242;
  static void table(auto&, auto&&) {}
  friend bool operator==(const ListSecrets&, const ListSecrets&) = default;
};
struct SecretView {
  std::string name;
  Instant updated;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kUserNameRule);
    see(field<2>, "updated", s.updated);
  }
  friend bool operator==(const SecretView&, const SecretView&) = default;
};
struct SecretsReply {
  static constexpr int kBody = 243;
  std::vector<SecretView> secrets;
  static void table(auto& s, auto&& see) {
    see(field<1>, "secrets", s.secrets, {.count = kMaxSecretsPerUser});
  }
  friend bool operator==(const SecretsReply&, const SecretsReply&) = default;
};

}  // namespace lockstep
