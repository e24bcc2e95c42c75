#pragma once
// Counts how much each principal holds of a bounded resource: a number of things, and their bytes.
// One principal may hold only a part of the total, so that none can take everything. It never
// waits; a refused principal is told how much it holds and what to do.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/base/result.h"

namespace lockstep::launcher {

struct ShareBounds {
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  std::string what;  // the thing's name in a refusal, in the plural: "requests"
  std::uint64_t of_one = kNone, of_all = kNone;
  std::uint64_t bytes_of_one = kNone, bytes_of_all = kNone;
};

// The shares of principals. May be called from any thread.
class Shares {
 public:
  explicit Shares(ShareBounds bounds) : bounds_(std::move(bounds)) {}

  // Counts one more thing of `who`. Returns resource_exhausted if the bound of one or of all is
  // reached.
  Status take(const std::string& who, std::uint64_t bytes = 0);
  // Counts it without a bound, for things that may not be refused.
  void take_anyway(const std::string& who, std::uint64_t bytes = 0);
  void give_back(const std::string& who, std::uint64_t bytes = 0);

  std::uint64_t count() const;
  std::uint64_t count_of(const std::string& who) const;

  // Takes a share that is given back when the last copy of the result is gone.
  static Result<std::shared_ptr<const void>> hold(const std::shared_ptr<Shares>& shares,
                                                  const std::string& who, std::uint64_t bytes);

 private:
  struct Had {
    std::uint64_t count = 0, bytes = 0;
  };
  void add(const std::string& who, std::uint64_t bytes);

  const ShareBounds bounds_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, Had> of_one_;
  Had of_all_;
};

}  // namespace lockstep::launcher
