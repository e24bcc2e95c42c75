#include "common/domain/targets/size.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace lockstep {
namespace {

Error invalid(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

Status check_text(const char* field, const std::string& text) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c == ' ' || is_word_character(c) || c == '/' || c == '(' || c == ')' || c == ',';
  });
  if (is_plain && text.size() <= kMaxSizeTextBytes) return {};
  return invalid(std::string(field) + ": must be at most " + std::to_string(kMaxSizeTextBytes) +
                 " letters, digits, blanks and '_-./(),'");
}

Status check_range(const char* field, int value, int least, int most) {
  if (value >= least && value <= most) return {};
  return invalid(std::string(field) + ": is " + std::to_string(value) + "; must be " +
                 std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace

Status check_size_name(std::string_view name) {
  const bool good = !name.empty() && name.size() <= kMaxSizeNameLength &&
                    std::isalpha(static_cast<unsigned char>(name[0])) != 0 &&
                    std::all_of(name.begin(), name.end(), is_word_character);
  if (good) return {};
  return invalid("'" + std::string(name.substr(0, 100)) + "' is not a name of a size: write 1 to " +
                 std::to_string(kMaxSizeNameLength) +
                 " letters, digits, '_', '-' and '.', beginning with a letter");
}

Status check(const Size& size) {
  if (const Status named = check_size_name(size.name); !named) return named.error().within("name");
  TRY(check_text("series", size.series));
  TRY(check_text("category", size.category));
  TRY(check_text("gpu_name", size.gpu_name));
  TRY(check_range("vcpus", size.vcpus, 1, kMaxSizeVcpus));
  TRY(check_range("gpus", size.gpus, 0, kMaxSizeGpus));
  TRY(check_range("ib_gbps", size.ib_gbps, 0, kMaxIbGbps));
  TRY(check_range("max_mpi_nodes", size.max_mpi_nodes, 0, 1'000'000));
  if (size.memory < mebibytes(1)) return invalid("memory: must be at least 1m; write 448g");
  if (size.gpus == 0 && (!size.gpu_name.empty() || size.gpu_memory.count != 0))
    return invalid("gpus: is 0, but gpu_name or gpu_memory describes one");
  if (size.price_per_hour && !(std::isfinite(*size.price_per_hour) && *size.price_per_hour >= 0 &&
                               *size.price_per_hour <= kMaxPrice))
    return invalid("price_per_hour: must be 0 to 1000000");
  return {};
}

std::string size_key(std::string_view name) {
  std::string key(name);
  for (char& c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return key;
}

}  // namespace lockstep
