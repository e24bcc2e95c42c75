#include "launcher/files/job/docker_args_reader.h"

#include <fmt/format.h>

#include "common/domain/environment/docker_args.h"

namespace lockstep::spec {

namespace {

constexpr std::string_view kArgs = "resources.docker_args";

}  // namespace

Result<std::vector<std::string>> read_docker_args(const Source& source, const YamlNode& node) {
  std::vector<std::string> words;
  switch (node.kind) {
    case YamlNode::Kind::null: return words;
    case YamlNode::Kind::scalar: {
      auto split = split_docker_args(node.text);
      if (!split) return source.error(node.place, split.error().message);
      return split;
    }
    case YamlNode::Kind::mapping:
      return source.error(node.place,
                          fmt::format("'{}' must be a string or a list of words, not a mapping; "
                                      "write, for example, '--ulimit memlock=-1'",
                                      kArgs));
    case YamlNode::Kind::sequence: break;
  }
  for (const YamlNode& item : node.items) {
    if (item.kind != YamlNode::Kind::scalar)
      return source.error(item.place, fmt::format("'{}' must be a list of words; this item is {}",
                                                  kArgs, describe(item.kind)));
    words.push_back(item.text);
  }
  return words;
}

std::vector<std::string_view> keys_without_container(const JobSpec& spec) {
  std::vector<std::string_view> keys;
  if (spec.in_container()) return keys;
  if (spec.resources.shm_size) keys.push_back("resources.shm_size");
  if (!spec.resources.docker_args.empty()) keys.push_back(kArgs);
  return keys;
}

std::string ignored(std::string_view key) {
  return fmt::format("'{}' is ignored: this job does not run in a container", key);
}

}  // namespace lockstep::spec
