#include "launcher/compute/machine_name.h"

#include <algorithm>
#include <string>

namespace lockstep::compute {
namespace {

constexpr std::size_t kMaxNameBytes = 255;

}  // namespace

Status check_machine_name(std::string_view name) {
  const bool good = !name.empty() && name.size() <= kMaxNameBytes && name[0] != '-' &&
                    std::all_of(name.begin(), name.end(), [](unsigned char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' || c == ':';
                    });
  if (good) return {};
  return make_error(
      ErrorCode::invalid_argument,
      "'" + std::string(name) + "' is not a valid machine name or address; use 1 to " +
          std::to_string(kMaxNameBytes) + " letters, digits and . _ - :, not beginning with '-'");
}

}  // namespace lockstep::compute
