#pragma once
// Recognises a program that is passed instead of a job file: a shell script, a Slurm batch script,
// a Python program.

#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// Returns an error that tells what to type instead, if the text is such a program.
Status refuse_script(const Source& source);

}  // namespace lockstep::spec
