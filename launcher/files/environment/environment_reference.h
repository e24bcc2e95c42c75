#pragma once
// Parses references to environments, in Azure's forms. It looks only at the text; the launcher
// knows whether the environment exists.

#include <optional>
#include <string>

#include "common/base/result.h"

namespace lockstep::spec {

// "azureml:NAME:VERSION" -> "NAME:VERSION", "azureml:NAME@latest" -> "NAME@latest" (both without
// the prefix too); the URL of an environment in a registry stays as it is. ShowEnvironment takes
// the result. Errors name the possible forms.
Result<std::string> parse_environment_reference(const std::string& text);

// Whether the text names a file rather than an environment: it has a '/' or ends in .yml, .yaml or
// .txt, and is not in Azure's form.
bool looks_like_file(const std::string& text);

// "file:./env.yml", "file:///shared/env.yml" -> the path; nullopt: the text does not begin with
// "file:".
std::optional<std::string> marked_file(const std::string& text);

}  // namespace lockstep::spec
