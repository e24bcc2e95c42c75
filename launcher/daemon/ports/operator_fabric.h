#pragma once
// The current content of the operator's fabric.yml, for nodes. The file is read again when it has
// changed. If it has an error, its last good version is used, the log has the error, and jobs show
// that they use the old version.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "launcher/files/targets/fabric_file.h"

namespace lockstep::launcher {

class OperatorFabric {
 public:
  explicit OperatorFabric(std::string path) : path_(std::move(path)) {}

  OperatorSettings settings_for(const spec::RuledNode& node);

 private:
  // The identity of the file's content: it changes when the file is written or replaced.
  struct Version {
    bool exists = false;
    dev_t device = 0;
    ino_t inode = 0;
    mode_t mode = 0;
    uid_t owner = 0;
    off_t size = 0;
    std::int64_t modified_ns = 0, changed_ns = 0;
    friend bool operator==(const Version&, const Version&) = default;
  };
  static Version version_of(const std::string& path);
  void look();

  const std::string path_;
  Version known_;
  spec::FabricRules rules_;
  bool is_faulty_ = false;
};

}  // namespace lockstep::launcher
