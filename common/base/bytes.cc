#include "common/base/bytes.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>

namespace lockstep {

std::optional<Bytes> parse_bytes(std::string_view text) {
  const std::string copy(text);
  if (copy.empty() || !std::isdigit(static_cast<unsigned char>(copy[0]))) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  std::string unit(end);
  for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  int shift = -1;
  if (unit.empty() || unit == "b") shift = 0;
  if (unit == "k" || unit == "kb" || unit == "ki" || unit == "kib") shift = 10;
  if (unit == "m" || unit == "mb" || unit == "mi" || unit == "mib") shift = 20;
  if (unit == "g" || unit == "gb" || unit == "gi" || unit == "gib") shift = 30;
  if (unit == "t" || unit == "tb" || unit == "ti" || unit == "tib") shift = 40;
  if (shift < 0) return std::nullopt;
  const double total = value * static_cast<double>(std::uint64_t{1} << shift);
  if (!(total >= 0) || total >= 9.2e18) return std::nullopt;
  return Bytes{static_cast<std::uint64_t>(total)};
}

std::string to_string(Bytes bytes) {
  const double n = static_cast<double>(bytes.count);
  if (bytes.count < 1024) return fmt::format("{} B", bytes.count);
  if (bytes.count < (1u << 20)) return fmt::format("{:.1f} KiB", n / 1024);
  if (bytes.count < (1u << 30)) return fmt::format("{:.1f} MiB", n / (1 << 20));
  return fmt::format("{:.1f} GiB", n / (1 << 30));
}

}  // namespace lockstep
