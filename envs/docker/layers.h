#pragma once
// The progress of a pull, read from the lines that docker and podman print without a terminal.

#include <cstddef>
#include <string>
#include <string_view>

namespace lockstep::envs {

class Layers {
 public:
  // "image layers 2/5"; for podman, which does not report finished layers, "image layer 3". A line
  // that is not about layers is returned unchanged.
  std::string read(std::string_view line);

 private:
  std::size_t known_ = 0, done_ = 0, begun_ = 0;
};

}  // namespace lockstep::envs
