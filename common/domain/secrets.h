#pragma once
// Secrets of a user: texts that the launcher keeps encrypted and gives to ranks in variables. A job
// refers to its owner's secrets as ${{secrets.NAME}} in values of environment_variables and nowhere
// else. No job, fact, log or file contains the text in clear.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace lockstep {

struct JobSpec;

inline constexpr std::size_t kMaxSecretNameBytes = 128;
inline constexpr std::size_t kMaxSecretBytes = 64u << 10;
inline constexpr std::size_t kMaxSecretsPerUser = 256;
inline constexpr std::size_t kMaxSecretBytesPerUser = 256u << 10;

// Letters, digits and '_', not a digit first.
Status validate_secret_name(const std::string& name);
// Refuses a value that is empty, too long, or contains a NUL byte, which no variable can hold.
// Errors never show it.
Status validate_secret_value(const std::string& value);

// "${{secrets.NAME}}".
std::string secret_expression(std::string_view name);
// The names in all expressions of `text`. invalid_argument: an expression has an invalid name, or
// is not closed.
Result<std::set<std::string>> secrets_named_in(const std::string& text);
// Of the values of environment_variables.
std::set<std::string> secrets_of(const std::map<std::string, std::string>& variables);
// Errors begin with the key. An expression outside environment_variables is refused, because others
// would see the value there.
Status validate_secrets(const JobSpec& spec);

using SecretValues = std::map<std::string, std::string>;
// `text` with each expression replaced, once. not_found: names the secret that is not among them.
Result<std::string> put_in_secrets(const std::string& text, const SecretValues& values);

// ---- requests and pictures ---------------------------------------------------------------------

struct SetSecret {  // of the one who asks; answered by Done
  std::string name;
  std::string value;
  friend bool operator==(const SetSecret&, const SetSecret&) = default;
};
struct RemoveSecret {
  std::string name;
  friend bool operator==(const RemoveSecret&, const RemoveSecret&) = default;
};
struct ListSecrets {
  friend bool operator==(const ListSecrets&, const ListSecrets&) = default;
};
struct SecretView {
  std::string name;
  Instant updated;
  friend bool operator==(const SecretView&, const SecretView&) = default;
};
struct SecretsReply {
  std::vector<SecretView> secrets;
  friend bool operator==(const SecretsReply&, const SecretsReply&) = default;
};

}  // namespace lockstep
