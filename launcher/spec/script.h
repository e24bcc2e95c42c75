#pragma once
// A program that somebody names where a job file belongs: a shell script, a Slurm batch script, a
// Python program.

#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

// Good for everything else. The error says what to type.
Status refuse_script(const Source& source);

}  // namespace lockstep::spec
