#pragma once
// The share of its machine that a node offers, with its network and address. The agent stores these
// flags in its home, so that a restart without them keeps the offer. A flag replaces the stored
// value; "all" removes it.

#include <optional>
#include <string>

#include "common/base/result.h"

namespace lockstep::agent {

// The flags' values; "" = all, and for the network the target's usual label.
struct Offer {
  std::string cpus, memory, gpus, network;
  std::string share = {};      // "1/2": a part of the machine; amounts beside it take precedence
  std::string advertise = {};  // the node's address; "": the address of the route to the launcher
  friend bool operator==(const Offer&, const Offer&) = default;
};

// The flags of an offer. nullopt: the flag was not given. "all" or "": removes the limit.
struct OfferFlags {
  std::optional<std::string> cpus, memory, gpus, network;
  std::optional<std::string> share = {};
  std::optional<std::string> advertise = {};
};

// The offer in the file, changed by the flags. Returns corrupt if the file has no valid offer.
Result<Offer> offer_of(const std::string& path, const OfferFlags& flags);
Status keep_offer(const std::string& path, const Offer& offer);
// "--cpus 0-3, --memory 16g"; "" when all is offered.
std::string describe(const Offer& offer);

}  // namespace lockstep::agent
