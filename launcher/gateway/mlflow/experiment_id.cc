#include "launcher/gateway/mlflow/experiment_id.h"

#include <algorithm>

#include "common/base/digest.h"

namespace lockstep::mlflow {

namespace {

constexpr std::size_t kMaxIdBytes = 64;
constexpr std::string_view kOfDigest = "e_";
constexpr std::size_t kDigestDigits = 40;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_id(std::string_view name) {
  return !name.empty() && name.size() <= kMaxIdBytes && is_letter_or_digit(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '_' || c == '-'; });
}

}  // namespace

std::string experiment_id_of(std::string_view name) {
  if (name.empty()) return std::string(kDefaultExperimentId);
  const bool is_own = is_id(name) && name != kDefaultExperimentId && !name.starts_with(kOfDigest);
  if (is_own) return std::string(name);
  return std::string(kOfDigest) + sha256(name).hex().substr(0, kDigestDigits);
}

}  // namespace lockstep::mlflow
