#include "launcher/daemon/ports/operator_fabric.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <string_view>

namespace lockstep::launcher {
namespace {

constexpr std::string_view kFaulty =
    "the operator's fabric.yml has an error, so its last version without one counts; an admin "
    "sees why in the launcher's log";

std::int64_t nanoseconds_of(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

OperatorFabric::Version OperatorFabric::version_of(const std::string& path) {
  struct stat info {};
  Version version;
  if (path.empty() || ::stat(path.c_str(), &info) != 0) return version;
  version.exists = true;
  version.device = info.st_dev;
  version.inode = info.st_ino;
  version.mode = info.st_mode;
  version.owner = info.st_uid;
  version.size = info.st_size;
  version.modified_ns = nanoseconds_of(info.st_mtim);
  version.changed_ns = nanoseconds_of(info.st_ctim);
  return version;
}

void OperatorFabric::look() {
  const Version now = version_of(path_);
  if (now == known_) return;
  known_ = now;
  Result<spec::FabricRules> rules = spec::FabricRules();
  if (now.exists) rules = spec::load_fabric_rules(path_);
  is_faulty_ = !rules;
  if (rules) {
    rules_ = *std::move(rules);
    spdlog::info("{}: {} rules for the network of jobs", path_, rules_.size());
  } else {
    spdlog::error("the network rules of jobs stay as they were: {}", rules.error().message);
  }
}

OperatorSettings OperatorFabric::settings_for(const spec::RuledNode& node) {
  look();
  OperatorSettings settings = spec::settings_of(rules_, node);
  if (is_faulty_) settings.trouble = kFaulty;
  return settings;
}

}  // namespace lockstep::launcher
