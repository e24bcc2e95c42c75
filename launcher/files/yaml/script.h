#pragma once
// Recognises a program that somebody passes instead of a job file: a shell script, a Slurm batch
// script, a Python program.

#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// An error that says what to type if the text is such a program; good otherwise.
Status refuse_script(const Source& source);

}  // namespace lockstep::spec
