#pragma once
// A backend solves conda's match specs and installs the resulting packages. Each process uses one;
// the provider does not know which.

#include <string>
#include <vector>

#include "envs/provider.h"

namespace lockstep::envs {

class CondaBackend {
 public:
  virtual ~CondaBackend() = default;
  virtual std::string name() const = 0;  // the name for Lock::solver: "py-rattler 0.28.0"
  // Solves for site.platform; sorted by name. If the definition is a lock file, returns the
  // packages that it names, each with its SHA-256.
  virtual Result<std::vector<LockedCondaPackage>> solve(const CondaEnvironment& definition) = 0;
  // The SHA-256 of each package that install() would fetch from a channel on another machine.
  virtual Result<std::vector<std::string>> missing(const std::vector<LockedCondaPackage>&) {
    return std::vector<std::string>();
  }
  // Fetches the files named in SharedSite::wanted, until it is stopped or fails.
  virtual Status fetch(const std::vector<LockedCondaPackage>&) { return {}; }
  // Makes site.prefix hold exactly these packages and checks each SHA-256. Packages that this node
  // has are not fetched again.
  virtual Status install(const std::vector<LockedCondaPackage>& packages) = 0;
};

// "linux-64 __cuda=12.4 __glibc=2.36", split into "linux-64" and the virtual packages.
struct CondaPlatform {
  std::string subdir;
  std::vector<std::string> virtual_packages;
};
CondaPlatform conda_platform_of(const std::string& platform);

// The packages that a lock file lists for a platform; returns invalid_argument if it lists none.
Result<std::vector<std::string>> locked_for(const CondaEnvironment& definition,
                                            const std::string& subdir);

}  // namespace lockstep::envs
