#pragma once
// The asset as which an output is registered when its job has completed.

#include <string>

#include "common/base/table.h"
#include "common/domain/data/inputs.h"

namespace lockstep {

// The name, version and type under which an output is registered when its job has completed.
struct OutputAsset {
  std::string name;
  std::string version = {};  // "": the next number
  InputType type = InputType::uri_folder;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "version", s.version);
    see(field<3>, "type", s.type);
  }
  friend bool operator==(const OutputAsset&, const OutputAsset&) = default;
};

}  // namespace lockstep
