#include "agent/daemon/links/launcher_addresses.h"

#include <algorithm>

#include "agent/daemon/links/identity.h"

namespace lockstep::agent {

bool is_dialable(const LauncherAddress& address) {
  return is_tcp_endpoint(address.control) && is_tcp_endpoint(address.bulk);
}

KnownAddresses::KnownAddresses(LauncherAddress current, const std::vector<LauncherAddress>& others)
    : known_{std::move(current)} {
  told(others);
}

// The last address is dropped.
void KnownAddresses::put(std::size_t place, const LauncherAddress& address) {
  std::erase(known_, address);
  known_.insert(known_.begin() + static_cast<std::ptrdiff_t>(std::min(place, known_.size())),
                address);
  if (known_.size() > kMaxLauncherAddresses) known_.pop_back();
}

void KnownAddresses::told(const std::vector<LauncherAddress>& addresses) {
  const LauncherAddress now = current();
  std::size_t place = 1;
  for (const LauncherAddress& address : addresses) {
    if (place >= kMaxLauncherAddresses) break;
    if (address == known_.front() || !is_dialable(address)) continue;
    put(place++, address);
  }
  const auto found = std::find(known_.begin(), known_.end(), now);
  at_ = found == known_.end() ? 0 : static_cast<std::size_t>(found - known_.begin());
}

void KnownAddresses::moved(const LauncherAddress& address) {
  put(0, address);
  at_ = 0;
}

void KnownAddresses::answered() {
  put(0, LauncherAddress(current()));
  at_ = 0;
}

}  // namespace lockstep::agent
