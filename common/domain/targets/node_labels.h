#pragma once
// Labels of nodes, with kubectl's rules: a key is [PREFIX/]NAME, where PREFIX is a DNS name; a
// value may be empty.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace lockstep {

using NodeLabels = std::map<std::string, std::string>;

inline constexpr std::size_t kMaxNodeLabels = 64;  // the most labels of one node, and of one job
inline constexpr std::size_t kMaxLabelBytes = 63;  // the longest value, and the longest name in a
                                                   // key
inline constexpr std::size_t kMaxLabelPrefixBytes = 253;

Status check_label_key(std::string_view key);
Status check_label_value(std::string_view value);
// Checks every key and value, and their number.
Status check_labels(const NodeLabels& labels);
// "rack=7, zone=a"
std::string labels_text(const NodeLabels& labels);

// True if `name` can be the name of a node: 1 to 80 letters, digits, '.', '_' and '-'.
bool is_node_name(std::string_view name);

}  // namespace lockstep
