#pragma once
// What an output becomes when its job has completed.

#include <string>

#include "common/domain/data/inputs.h"

namespace lockstep {

// The name, version and type under which an output is registered when its job has completed.
struct OutputAsset {
  std::string name;
  std::string version = {};  // "": the next number
  InputType type = InputType::uri_folder;
  friend bool operator==(const OutputAsset&, const OutputAsset&) = default;
};

}  // namespace lockstep
