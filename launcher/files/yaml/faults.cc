#include "launcher/files/yaml/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace lockstep::spec {

namespace {

auto order_of(const Place& place) {
  return std::tuple(place.override_text.has_value(), place.source ? place.source->order : 0,
                    place.line, place.column);
}

}  // namespace

void Faults::add(const Place& place, const Error& error) {
  for (Error& one : faults_of(error)) {
    if (is_full())
      ++more_;
    else if (messages_.insert(one.message).second)
      faults_.push_back({place, std::move(one)});
  }
}

void Faults::add_all(const Faults& others) {
  for (const Fault& fault : others.faults_) add(fault.place, fault.error);
  more_ += others.more_;
}

bool Faults::is_faulty(std::string_view path) const {
  return std::any_of(faulty_.begin(), faulty_.end(), [&](const std::string& one) {
    return one == path || (one.starts_with(path) && one[path.size()] == '.');
  });
}

Status Faults::status() const {
  if (faults_.empty()) return {};
  std::vector<Fault> sorted = faults_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Fault& a, const Fault& b) {
    return order_of(a.place) < order_of(b.place);
  });
  if (sorted.size() == 1) return sorted.front().error;
  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), kMaxShownFaults); ++i)
    text += (i == 0 ? "" : "\n") + sorted[i].error.message;
  if (sorted.size() > kMaxShownFaults)
    text += fmt::format("\nand {} more", sorted.size() + more_ - kMaxShownFaults);
  return make_error(sorted.front().error.code, std::move(text));
}

std::vector<Error> faults_of(const Error& error) {
  std::vector<Error> faults;
  for (std::size_t begin = 0; begin <= error.message.size();) {
    const auto end = std::min(error.message.find('\n', begin), error.message.size());
    faults.push_back({error.code, error.message.substr(begin, end - begin)});
    begin = end + 1;
  }
  return faults;
}

}  // namespace lockstep::spec
