#include "common/domain/targets/node_labels.h"

#include <algorithm>
#include <cctype>

namespace lockstep {
namespace {

constexpr std::size_t kMaxNodeNameBytes = 80;

bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

bool is_dashed(std::string_view text, std::string_view inner) {
  return !text.empty() && is_alnum(text.front()) && is_alnum(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return is_alnum(c) || inner.find(c) != std::string_view::npos;
         });
}

Error invalid(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

std::string shown(std::string_view text) { return "'" + std::string(text.substr(0, 100)) + "'"; }

}  // namespace

Status check_label_key(std::string_view key) {
  const auto slash = key.find('/');
  const std::string_view name = slash == std::string_view::npos ? key : key.substr(slash + 1);
  const std::string_view prefix = slash == std::string_view::npos ? "" : key.substr(0, slash);
  const bool good_prefix = slash == std::string_view::npos ||
                           (prefix.size() <= kMaxLabelPrefixBytes && is_dashed(prefix, "-."));
  if (good_prefix && name.size() <= kMaxLabelBytes && is_dashed(name, "-_.")) return {};
  return invalid(
      shown(key) +
      " is not a label's key: write 1 to 63 letters, digits, '-', '_' and '.', beginning and "
      "ending with a letter or a digit, perhaps after a DNS name and '/', as in example.com/rack");
}

Status check_label_value(std::string_view value) {
  if (value.empty() || (value.size() <= kMaxLabelBytes && is_dashed(value, "-_."))) return {};
  return invalid(shown(value) +
                 " is not a label's value: write up to 63 letters, digits, '-', '_' and '.', "
                 "beginning and ending with a letter or a digit");
}

Status check_labels(const NodeLabels& labels) {
  if (labels.size() > kMaxNodeLabels)
    return invalid("there are " + std::to_string(labels.size()) + " labels; at most " +
                   std::to_string(kMaxNodeLabels) + " are possible");
  for (const auto& [key, value] : labels) {
    TRY(check_label_key(key));
    TRY(check_label_value(value));
  }
  return {};
}

std::string labels_text(const NodeLabels& labels) {
  std::string text;
  for (const auto& [key, value] : labels) text += (text.empty() ? "" : ", ") + key + "=" + value;
  return text;
}

bool is_node_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNodeNameBytes &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_alnum(c) || c == '.' || c == '_' || c == '-'; });
}

}  // namespace lockstep
