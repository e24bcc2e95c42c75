#pragma once
// The record of one cached environment's container images, a file in its cache entry: the engine's
// program, and the image names (tags) that this node made or pulled there. It is written before the
// engine gets a name, so that every name can be removed later.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace lockstep::envs {

struct ImageRecord {
  std::string engine;                            // absolute path of its program
  std::map<std::string, std::string> variables;  // the program's whole environment
  std::vector<std::string> names;  // "lockstep/env:…", and pulled names: "debian@sha256:…"
  std::uint64_t bytes = 0;         // the size of the image
  friend bool operator==(const ImageRecord&, const ImageRecord&) = default;
};

std::string to_json(const ImageRecord& record);
Result<ImageRecord> image_record_from_json(std::string_view text);

}  // namespace lockstep::envs
