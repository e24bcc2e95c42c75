#include "common/domain/compute.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep {
namespace {

bool begins_compute_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

Status check_text(const std::string& text, std::string_view what) {
  if (text.size() <= kMaxComputeTextBytes) return {};
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("{} has {} bytes; at most {} are possible", what, text.size(),
                                kMaxComputeTextBytes));
}

}  // namespace

std::string_view to_string(ComputeType type) {
  switch (type) {
    case ComputeType::local: return "local";
    case ComputeType::virtualmachine: return "virtualmachine";
  }
  return "?";
}

Status check_compute_name(std::string_view name) {
  const bool good_characters = std::all_of(name.begin(), name.end(), [](char c) {
    return begins_compute_name(c) || (c >= '0' && c <= '9') || c == '-';
  });
  if (good_characters && name.size() >= kMinComputeNameBytes &&
      name.size() <= kMaxComputeNameBytes && begins_compute_name(name.front()))
    return {};
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format("'{}' cannot be the name of a compute target: it needs {} to {} letters, digits "
                  "and '-', and begins with a letter",
                  name.substr(0, 100), kMinComputeNameBytes, kMaxComputeNameBytes));
}

Status check(const ComputeSpec& spec) {
  TRY(check_compute_name(spec.name));
  TRY(check_text(spec.description, "description"));
  TRY(check_text(spec.location, "location"));
  if (spec.tags.size() > kMaxComputeTags)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("there are {} tags; at most {} are possible", spec.tags.size(),
                                  kMaxComputeTags));
  for (const auto& [name, value] : spec.tags) {
    if (name.empty()) return make_error(ErrorCode::invalid_argument, "a tag needs a name");
    TRY(check_text(name, "the name of a tag"));
    TRY(check_text(value, fmt::format("tag '{}'", name)));
  }
  return {};
}

std::string_view without_azureml(std::string_view reference) {
  constexpr std::string_view kPrefix = "azureml:";
  if (reference.substr(0, kPrefix.size()) == kPrefix) reference.remove_prefix(kPrefix.size());
  return reference;
}

}  // namespace lockstep
