#pragma once
// Secrets of a user: texts that the launcher keeps encrypted and gives to ranks in variables. A job
// names them as ${{secrets.NAME}} in values of environment_variables and nowhere else; its owner's
// are meant. The text itself stands in no job, fact, log or file in clear.

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
// Neither empty nor too long, and without a NUL byte: no variable could hold it. Errors never show
// it.
Status validate_secret_value(const std::string& value);

// "${{secrets.NAME}}".
std::string secret_expression(std::string_view name);
// The names in all expressions of `text`. invalid_argument: one has no name that is possible, or
// no end.
Result<std::set<std::string>> secrets_named_in(const std::string& text);
// Of the values of environment_variables.
std::set<std::string> secrets_of(const std::map<std::string, std::string>& variables);
// Errors begin with the key. Anywhere but in environment_variables an expression is refused: it
// would be shown to others.
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
