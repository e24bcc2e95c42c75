#pragma once
// The addresses at which this node's launcher may be, in the order in which they are dialled. The
// launcher tells them (SessionAccepted, LauncherAddresses); a program that may write into the
// agent's home adds one by a file (moved_file.h). An old address is kept until newer ones take its
// place, because only the launcher's key proves that it is there. docs/decisions/068.

#include <cstddef>
#include <vector>

#include "common/domain/messages/agent_protocol.h"

namespace lockstep::agent {

class KnownAddresses {
 public:
  // `others`: the addresses to try when `current` does not answer.
  KnownAddresses(LauncherAddress current, const std::vector<LauncherAddress>& others);

  const LauncherAddress& current() const { return known_[at_]; }
  bool has_others() const { return known_.size() > 1; }
  // All addresses, in the order in which they are dialled after a start; at most
  // kMaxLauncherAddresses.
  const std::vector<LauncherAddress>& known() const { return known_; }

  // Addresses from the launcher itself, which are tried right after the first one. Those that are
  // not TCP addresses are left out.
  void told(const std::vector<LauncherAddress>& addresses);
  // Tells that another source reports the launcher at this address now.
  void moved(const LauncherAddress& address);
  // The current address does not answer, so the next one is tried.
  void next() { at_ = (at_ + 1) % known_.size(); }
  // The launcher answers at the current one.
  void answered();

 private:
  void put(std::size_t place, const LauncherAddress& address);

  std::vector<LauncherAddress> known_;  // never empty
  std::size_t at_ = 0;
};

// Whether both are tcp://HOST:PORT, with a HOST that can be dialled (common/io/net/host_text.h).
bool is_dialable(const LauncherAddress& address);

}  // namespace lockstep::agent
