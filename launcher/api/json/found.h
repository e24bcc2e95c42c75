#pragma once
// What a gang found out about its ranks and its network, as JSON, each with its words
// (launcher/words).

#include "common/domain/messages/views.h"
#include "launcher/api/json/keys/keys.h"
#include "launcher/words/said.h"

namespace lockstep::api {

// A value, and the names of the attempt that it is of.
template <class T>
struct Of {
  const T* value = &none_of<T>();
  const words::About* names = &none_of<words::About>();
};
template <class T>
std::vector<Of<T>> each_of(const std::vector<T>& values, const words::About& names) {
  std::vector<Of<T>> all;
  for (const T& value : values) all.push_back({&value, &names});
  return all;
}

void keys(const Of<Found>& found, See& see);
// What the probe of a gang chose and where it failed.
void keys(const Of<ProbeResult>& probe, See& see);
void keys(const NetworkSetting& setting, See& see);

// The attempt's names for the words; `attempt` must outlive what is returned.
words::About names_in(const std::string& job, const AttemptView& attempt);

}  // namespace lockstep::api
