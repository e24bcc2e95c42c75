#pragma once
// What an engine was given for one entry of a node's environments, as a file beside it: which
// program speaks to the engine, and the names that keep its images there. It is written before the
// engine has them, so that all of them can be taken back.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace lockstep::envs {

struct ImageRecord {
  std::string engine;                            // its program, absolute
  std::map<std::string, std::string> variables;  // all that it sees
  std::vector<std::string> names;  // "lockstep/env:…", and what was pulled: "debian@sha256:…"
  std::uint64_t bytes = 0;         // of the image
  friend bool operator==(const ImageRecord&, const ImageRecord&) = default;
};

std::string to_json(const ImageRecord& record);
Result<ImageRecord> image_record_from_json(std::string_view text);

}  // namespace lockstep::envs
