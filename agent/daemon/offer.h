#pragma once
// Which share of its machine a node offers, and in which network: the flags of the agent's start,
// kept in its home, so that an agent that is started again without them offers what it offered
// before. A flag changes what is kept; "all" takes it back.

#include <optional>
#include <string>

#include "common/base/result.h"

namespace lockstep::agent {

// As the flags have it; "" = all, and of the network the target's usual label.
struct Offer {
  std::string cpus, memory, gpus, network;
  friend bool operator==(const Offer&, const Offer&) = default;
};

// nullopt: the flag was not given. "all" or "": no limit any more.
struct OfferFlags {
  std::optional<std::string> cpus, memory, gpus, network;
};

// What is kept in the file, changed by the flags. corrupt: the file is no offer.
Result<Offer> offer_of(const std::string& path, const OfferFlags& flags);
Status keep_offer(const std::string& path, const Offer& offer);
// "--cpus 0-3, --memory 16g"; "" when all is offered.
std::string describe(const Offer& offer);

}  // namespace lockstep::agent
