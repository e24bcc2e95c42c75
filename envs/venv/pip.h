#pragma once
// Runs pip of one interpreter, for every environment with Python packages: it solves to a lock's
// packages and installs exactly these. If this node has fetched all of them before, it asks no
// index. Its temporary files go to `folder`, which must exist.

#include <string>
#include <vector>

#include "envs/provider.h"
#include "envs/tool.h"
#include "envs/venv/failed_build.h"

namespace lockstep::envs {

// The requested packages, as files that pip and uv read.
struct Asked {
  std::string requirements, constraints;
  Words words() const { return {"-r", requirements, "-c", constraints}; }
};
Result<Asked> write_asked(const Words& options, const Words& requirements, const Words& constraints,
                          const std::string& folder);

// Splits options into words of a command line: "--index-url URL" becomes two words.
Words option_words(const Words& options);

// Adds to a tool's error the folders of --find-links that do not exist on this node, because pip
// only warns about them; invalid_argument becomes not_found.
Error naming_missing_folders(Error error, const Words& options);

class Pip {
 public:
  Pip(Toolbox& tools, const Site& site, std::string python, std::string folder);
  // "pip 23.0.1".
  Result<std::string> version();
  Result<bool> has_reports();  // Whether pip writes reports; false for pip of Debian 11 and older.
  // Packages that are already installed are solved again (left_out) or reused (counts).
  enum class Installed { left_out, counts };
  Result<std::vector<LockedPackage>> solve(const Asked& asked, Installed installed);
  Status install(const Lock& lock, const Words& options);

 private:
  std::string say_why(const FailedBuild& failed, std::string_view tail);
  Status run(const Words& words, std::string_view what);
  Result<Words> fetch(const Lock& lock, const Words& options);
  Status fetch_lacking(const Lock& lock, const Words& options);

  Toolbox& tools_;
  const Site site_;
  const std::string python_;
  const std::string folder_;
};

}  // namespace lockstep::envs
