#include "launcher/gateway/http/site/gate.h"

namespace lockstep::http {

Gate::Place Gate::take_stream(const std::string& user) {
  return take(streams_, user, settings_.streams_of_user, settings_.streams);
}

Gate::Place Gate::take_check(const std::string& address) {
  return take(checks_, address, settings_.checks_of_address, settings_.checks);
}

Gate::Place Gate::take(const std::shared_ptr<Counts>& counts, const std::string& name,
                       std::size_t most_of_one, std::size_t most) {
  std::size_t& of_one = counts->by_name[name];
  if (of_one >= most_of_one || counts->all >= most) {
    if (of_one == 0) counts->by_name.erase(name);
    return nullptr;
  }
  ++of_one;
  ++counts->all;
  // A pointer that is not null; what counts is its end.
  return Place(counts.get(), [counts, name](const void*) {
    --counts->all;
    const auto found = counts->by_name.find(name);
    if (--found->second == 0) counts->by_name.erase(found);
  });
}

}  // namespace lockstep::http
