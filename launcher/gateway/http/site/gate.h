#pragma once
// What one user, one address and all together may ask of the gateway at a time, beside the limits
// of each connection (limits.h) and of their number (common/io/admission.h). It counts, and reads
// no clock.

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "common/base/rate_limit.h"
#include "common/base/time.h"

namespace lockstep::http {

class Gate {
 public:
  struct Settings {
    RateLimit<std::string>::Rate requests_of_user{10'000, 2'000};
    std::size_t streams_of_user = 200;  // answers without an end: events
    std::size_t streams = 4'000;
    // Requests whose credential is being checked by the launcher.
    std::size_t checks_of_address = 256;
    std::size_t checks = 1'024;
  };
  explicit Gate(const Settings& settings)
      : settings_(settings), requests_(settings.requests_of_user) {}

  bool take_request(const std::string& user, Instant now) { return requests_.take(user, now); }

  // A place that is given back when the last copy is gone. Null: there is none.
  using Place = std::shared_ptr<const void>;
  Place take_stream(const std::string& user);
  Place take_check(const std::string& address);

 private:
  // Shared with the places, which may be kept longer than the gate.
  struct Counts {
    std::map<std::string, std::size_t> by_name;
    std::size_t all = 0;
  };
  static Place take(const std::shared_ptr<Counts>& counts, const std::string& name,
                    std::size_t most_of_one, std::size_t most);

  const Settings settings_;
  RateLimit<std::string> requests_;
  std::shared_ptr<Counts> streams_ = std::make_shared<Counts>();
  std::shared_ptr<Counts> checks_ = std::make_shared<Counts>();
};

}  // namespace lockstep::http
