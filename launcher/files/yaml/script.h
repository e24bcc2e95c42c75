#pragma once
// Recognises a program that is passed instead of a job file: a shell script, a Slurm batch script,
// a Python program.

#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// If the text is such a program, an error that says what to type instead.
Status refuse_script(const Source& source);

}  // namespace lockstep::spec
