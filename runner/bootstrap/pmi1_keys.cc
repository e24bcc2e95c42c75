#include "runner/bootstrap/pmi1_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lockstep::runner {

Status Pmi1Keys::put(int rank, std::string_view key, std::string_view value) {
  Count& count = counts_[rank];
  const std::size_t bytes = count.bytes + key.size() + value.size();
  if (key.empty() || key.size() > kMaxPmi1Key || value.size() > kMaxPmi1Value)
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("a key has 1 to {} bytes, a value at most {}", kMaxPmi1Key, kMaxPmi1Value));
  if (count.keys == kMaxPmi1Keys || bytes > kMaxPmi1Bytes)
    return make_error(
        ErrorCode::resource_exhausted,
        fmt::format("a rank can put {} keys and {} bytes", kMaxPmi1Keys, kMaxPmi1Bytes));
  ++count.keys;
  count.bytes = bytes;
  values_[std::string(key)] = value;
  new_.append(key).append(1, ' ').append(value).append(1, '\n');
  return {};
}

const std::string* Pmi1Keys::find(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

std::string Pmi1Keys::take_new() { return std::exchange(new_, {}); }

void Pmi1Keys::add(std::string_view parts) {
  while (!parts.empty()) {
    const std::size_t end = std::min(parts.find('\n'), parts.size());
    const std::string_view line = parts.substr(0, end);
    parts.remove_prefix(std::min(end + 1, parts.size()));
    const std::size_t space = line.find(' ');
    if (space != line.npos) values_[std::string(line.substr(0, space))] = line.substr(space + 1);
  }
}

}  // namespace lockstep::runner
