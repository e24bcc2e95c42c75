#pragma once
// Turns yaml-cpp's syntax errors into errors for the author of the file: which line is wrong, what
// is missing, what to write.

#include <string>

#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// Makes an error. `problem`: yaml-cpp's message (yaml-cpp/exceptions.h) for the fault at `place`.
Error syntax_error(const Source& source, const Place& place, const std::string& problem);

}  // namespace lockstep::spec
