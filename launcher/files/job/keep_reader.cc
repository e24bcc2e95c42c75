#include "launcher/files/job/keep_reader.h"

#include <fmt/format.h>

#include "common/base/quoted_name.h"
#include "common/domain/job/keep.h"

namespace lockstep::spec {

namespace {

constexpr std::string_view kKeep = "lockstep.keep";

Status add(const Source& source, const YamlNode& item, std::vector<std::string>& patterns) {
  if (item.kind != YamlNode::Kind::scalar)
    return source.error(item.place, fmt::format("'{}' must be a list of patterns, such as "
                                                "[\"*.pt\", checkpoints/]; this is {}",
                                                kKeep, describe(item.kind)));
  if (const std::string fault = fault_of_keep(item.text); !fault.empty())
    return source.error(item.place,
                        fmt::format("'{}': pattern {}: {}", kKeep, quoted_name(item.text), fault));
  patterns.push_back(item.text);
  return {};
}

}  // namespace

Result<std::vector<std::string>> read_keep(const Source& source, const YamlNode& node) {
  std::vector<std::string> patterns;
  if (node.kind != YamlNode::Kind::sequence) {
    TRY(add(source, node, patterns));
    return patterns;
  }
  for (const YamlNode& item : node.items) TRY(add(source, item, patterns));
  return patterns;
}

}  // namespace lockstep::spec
