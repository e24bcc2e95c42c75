#pragma once
// The receiver of the file contents that a capture reads. An upload implements it, so that files
// are not read a second time. take() is given exactly the bytes that the digest names, even if the
// file changes afterwards. The receiver limits how much is held in memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "common/base/digest.h"

namespace lockstep::snapshot {

// A buffer that is not zeroed when it is allocated.
struct Content {
  std::unique_ptr<char[]> data;
  std::size_t size = 0;
  std::string_view view() const { return {data.get(), size}; }
};

// Called by all threads of a capture at once.
class ContentTaker {
 public:
  virtual ~ContentTaker() = default;
  // Reserves memory for this many bytes. May wait until there is room. False: there is none, and
  // the file is only hashed.
  virtual bool make_room(std::uint64_t bytes) = 0;
  virtual void give_back(std::uint64_t bytes) = 0;  // returns unused room of make_room()
  virtual void take(const Digest& digest, Content content) = 0;  // uses room of make_room()
};

}  // namespace lockstep::snapshot
