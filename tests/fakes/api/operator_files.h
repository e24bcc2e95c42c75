#pragma once
// The operator's files as values. A test fills them in.

#include <map>

#include "common/grammar/image_name.h"
#include "launcher/api/ports/operator_files.h"

namespace lockstep::test {

class FakeOperatorFiles final : public launcher::OperatorFiles {
 public:
  Result<launcher::Datastores> datastores() const override { return stores; }
  Result<std::optional<RegisteredEnvironment>> find_environment(
      const std::vector<std::string>& keys) const override {
    for (const std::string& key : keys)
      if (const auto found = environments.find(key); found != environments.end())
        return std::optional(found->second);
    return std::optional<RegisteredEnvironment>();
  }
  Result<spec::MappedImages> find_images(const std::set<std::string>& names) const override {
    spec::MappedImages mapped;
    for (const std::string& name : names)
      for (const auto& [key, environment] : images)
        if (normal_image_name(key) == normal_image_name(name)) mapped[name] = environment;
    return mapped;
  }
  std::string environments_map() const override { return "/home/environments.map"; }

  Result<launcher::Datastores> stores = launcher::Datastores();
  std::map<std::string, RegisteredEnvironment> environments;  // by key of the map
  spec::MappedImages images;
};

}  // namespace lockstep::test
