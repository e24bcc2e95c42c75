#include "common/domain/job/secret_references.h"

#include <string>

#include "common/domain/job/spec.h"
#include "common/domain/people/secrets.h"

namespace lockstep {
namespace {

Error invalid(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

Status refuse_in(const std::string& key, const std::string& text) {
  if (text.find(kSecretOpen) == std::string::npos) return {};
  return invalid(key +
                 ": '${{secrets.…}}' is possible only in values of environment_variables, because "
                 "others could read it here; set a variable to the secret and use that variable");
}

}  // namespace

Status validate_secrets(const JobSpec& spec) {
  for (const auto& [name, value] : spec.environment_variables) {
    if (const auto named = secrets_named_in(value); !named)
      return invalid("environment_variables." + name + ": " + named.error().message);
    TRY(refuse_in("environment_variables", name));
  }
  if (const auto* shell = std::get_if<ShellCommand>(&spec.command)) {
    TRY(refuse_in("command", shell->text));
  } else {
    for (const auto& word : std::get<Argv>(spec.command).words) TRY(refuse_in("command", word));
  }
  for (const auto& word : spec.resources.docker_args) TRY(refuse_in("resources.docker_args", word));
  return {};
}

}  // namespace lockstep
