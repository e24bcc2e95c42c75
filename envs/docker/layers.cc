#include "envs/docker/layers.h"

#include <fmt/format.h>

namespace lockstep::envs {

std::string Layers::read(std::string_view line) {
  if (line.starts_with("Copying blob ")) return fmt::format("image layer {}", ++begun_);
  const bool is_here = line.ends_with(": Already exists");
  const bool is_new = line.ends_with(": Pulling fs layer");
  const bool is_pulled = line.ends_with(": Pull complete");
  known_ += is_here || is_new ? 1 : 0;
  done_ += is_here || is_pulled ? 1 : 0;
  const bool is_of_one = is_here || is_new || is_pulled || line.ends_with(": Waiting") ||
                         line.ends_with(": Verifying Checksum") ||
                         line.ends_with(": Download complete");
  if (!is_of_one || known_ == 0) return std::string(line);
  return fmt::format("image layers {}/{}", done_, known_);
}

}  // namespace lockstep::envs
