#pragma once
// The kind of a job file or a step: a command or a pipeline. Azure's other kinds are refused by
// name, with what to write instead.

#include <optional>

#include "common/base/result.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

enum class JobKind { command, pipeline };

enum class FileKind { job, component };

// Finds the kind in `type`, otherwise in `$schema`, otherwise by the keys: `jobs` makes a pipeline.
// nullopt: the file does not tell. The error has its place.
Result<std::optional<JobKind>> read_kind(const Source& source, const YamlNode& root, FileKind file);

}  // namespace lockstep::spec
