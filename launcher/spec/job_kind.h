#pragma once
// What kind of job a file or a step is: a command, a pipeline or a sweep. Azure's other kinds are
// refused by name, with what to write instead.

#include <optional>

#include "common/base/result.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

enum class JobKind { command, pipeline, sweep };  // a component is no sweep

enum class FileKind { job, component };

// From `type`, else from `$schema`, else from the keys: `jobs` make a pipeline, and `trial` a
// sweep; nullopt if nothing says it. The error has its place.
Result<std::optional<JobKind>> read_kind(const Source& source, const YamlNode& root, FileKind file);

}  // namespace lockstep::spec
