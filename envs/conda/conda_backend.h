#pragma once
// A tool that solves conda's match specs and installs the result. One is chosen per process; the
// provider does not depend on which.

#include <memory>
#include <string>
#include <vector>

#include "envs/provider.h"

namespace lockstep::envs {

class CondaBackend {
 public:
  virtual ~CondaBackend() = default;
  virtual std::string name() const = 0;  // of the lock's solver: "py-rattler 0.28.0"
  // For site.platform, sorted by name. Of a lock file: what it names, each with its SHA-256.
  virtual Result<std::vector<LockedCondaPackage>> solve(const CondaEnvironment& definition) = 0;
  // Of these, the SHA-256 of those that install() would fetch from a channel elsewhere.
  virtual Result<std::vector<std::string>> missing(const std::vector<LockedCondaPackage>&) {
    return std::vector<std::string>();
  }
  // See SharedSite: until it is stopped or fails.
  virtual Status fetch(const std::vector<LockedCondaPackage>&) { return {}; }
  // site.prefix has exactly these then, each with its SHA-256; asks no network for what is here.
  virtual Status install(const std::vector<LockedCondaPackage>& packages) = 0;
};

// `scratch` is a folder to write to. LOCKSTEP_CONDA_ENGINE of the environment says which.
// unavailable: this node has no usable tool; the definition is not at fault.
Result<std::unique_ptr<CondaBackend>> make_conda_backend(Toolbox& tools, const Site& site,
                                                         const std::string& scratch);

// "linux-64" of "linux-64 __cuda=12.4 __glibc=2.36", and the rest.
struct CondaPlatform {
  std::string subdir;
  std::vector<std::string> virtual_packages;
};
CondaPlatform conda_platform_of(const std::string& platform);

// What a lock file lists for a platform; invalid_argument: it has none for it.
Result<std::vector<std::string>> locked_for(const CondaEnvironment& definition,
                                            const std::string& subdir);

}  // namespace lockstep::envs
