#pragma once
// What kind of job a file or a step is: a command or a pipeline. Azure's other kinds are refused by
// name, with what to write instead.

#include <optional>

#include "common/base/result.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

enum class JobKind { command, pipeline };

enum class FileKind { job, component };

// From `type`, else from `$schema`, else from the keys: `jobs` make a pipeline; nullopt if nothing
// says it. The error has its place.
Result<std::optional<JobKind>> read_kind(const Source& source, const YamlNode& root, FileKind file);

}  // namespace lockstep::spec
