#pragma once
// The names that an environment may be asked for by, in Azure's forms. Pure text: whether there is
// such an environment is the launcher's to say.

#include <optional>
#include <string>

#include "common/base/result.h"

namespace lockstep::spec {

// "azureml:NAME:VERSION" -> "NAME:VERSION", "azureml:NAME@latest" -> "NAME@latest" (both without
// the prefix too); the URL of an environment in a registry stays as it is. What a ShowEnvironment
// takes. Errors say which forms there are.
Result<std::string> parse_environment_reference(const std::string& text);

// Whether it rather names a file: it has a '/' or ends like one, and is no name of Azure's.
bool looks_like_file(const std::string& text);

// "file:./env.yml", "file:///shared/env.yml" -> the path; nullopt: it is not marked as one.
std::optional<std::string> marked_file(const std::string& text);

}  // namespace lockstep::spec
