#include "launcher/compute/kubernetes/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/digest.h"

namespace lockstep::compute::kubernetes {
namespace {

constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxSubdomain = 253;
constexpr std::size_t kMaxQuantity = 32;
constexpr std::size_t kHashDigits = 8;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alphanumeric(char c) { return is_lower(c) || is_upper(c) || is_digit(c); }

// Whether the text begins and ends with characters of `is_end`, and has only those and `others`
// between.
bool is_word(std::string_view text, std::size_t longest, bool (*is_end)(char),
             std::string_view others) {
  return !text.empty() && text.size() <= longest && is_end(text.front()) && is_end(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_end(c) || others.find(c) != others.npos; });
}

std::string lowered(std::string_view text) {
  std::string name(text);
  for (char& c : name) {
    if (is_upper(c)) c = static_cast<char>(c - 'A' + 'a');
    if (!is_lower(c) && !is_digit(c)) c = '-';
  }
  return name;
}

std::string without_dashes_around(std::string name) {
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

}  // namespace

bool is_dns_label(std::string_view text) {
  return is_word(
      text, kMaxLabel, [](char c) { return is_lower(c) || is_digit(c); }, "-");
}

bool is_dns_subdomain(std::string_view text) {
  if (text.empty() || text.size() > kMaxSubdomain) return false;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('.', at), text.size());
    if (!is_dns_label(text.substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

bool is_qualified_name(std::string_view text) {
  const auto slash = text.find('/');
  if (slash != text.npos && !is_dns_subdomain(text.substr(0, slash))) return false;
  return is_word(slash == text.npos ? text : text.substr(slash + 1), kMaxLabel, is_alphanumeric,
                 "-_.");
}

bool is_label_value(std::string_view text) {
  return text.empty() || is_word(text, kMaxLabel, is_alphanumeric, "-_.");
}

bool is_quantity(std::string_view text) {
  if (text.size() > kMaxQuantity) return false;
  const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, end), unit = text.substr(end);
  const bool is_number = !number.empty() && is_digit(number.front()) && is_digit(number.back()) &&
                         std::count(number.begin(), number.end(), '.') <= 1;
  constexpr std::string_view kUnits[] = {"",  "m",  "k",  "M",  "G",  "T",  "P",
                                         "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  return is_number && std::find(std::begin(kUnits), std::end(kUnits), unit) != std::end(kUnits);
}

std::string pod_name(const Request& request, const std::string& machine) {
  const std::string plain =
      fmt::format("lockstep-{}-{}-{}", request.launcher, request.target, machine);
  std::string name = lowered(plain);
  if (name == plain && is_dns_label(name)) return name;
  name = without_dashes_around(name.substr(0, kMaxLabel - kHashDigits - 1));
  return fmt::format("{}-{}", name, sha256(plain).hex().substr(0, kHashDigits));
}

std::string host_name(const std::string& machine) {
  std::string name = without_dashes_around(lowered(machine).substr(0, kMaxLabel));
  return name.empty() ? "node" : name;
}

Status check_names(const Request& request) {
  const auto check = [](const char* what, const std::string& name) -> Status {
    if (is_label_value(name)) return {};
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} '{}' cannot be the value of a label in Kubernetes: at most "
                                  "63 letters, digits and . _ -, with a letter or digit at both "
                                  "ends. Choose another name",
                                  what, name));
  };
  TRY(check("the launcher's tag", request.launcher));
  TRY(check("target", request.target));
  for (const compute::Machine& machine : request.machines) TRY(check("machine", machine.name));
  return {};
}

}  // namespace lockstep::compute::kubernetes
