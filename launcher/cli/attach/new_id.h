#pragma once
// The id of a new attachment.

#include <string>

#include "common/domain/runners/attach_frames.h"
#include "common/io/process.h"

namespace lockstep::cli {

inline AttachId new_attach_id() {
  std::string bytes;
  while (bytes.size() < kAttachIdBytes) {
    const std::uint64_t random = io::random_u64();
    bytes.append(reinterpret_cast<const char*>(&random), sizeof random);
  }
  return AttachId(std::move(bytes));
}

}  // namespace lockstep::cli
