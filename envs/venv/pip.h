#pragma once
// pip of one interpreter, for every environment that has packages of an index of Python packages:
// solves to a lock's packages, and installs exactly these, without the network if this node has all
// the files. Temporary files are written to `folder`, which exists.

#include <string>
#include <vector>

#include "envs/provider.h"
#include "envs/tool.h"
#include "envs/venv/failed_build.h"

namespace lockstep::envs {

// What to install, as files that pip and uv read.
struct Asked {
  std::string requirements, constraints;
  Words words() const { return {"-r", requirements, "-c", constraints}; }
};
Result<Asked> write_asked(const Words& options, const Words& requirements, const Words& constraints,
                          const std::string& folder);

// Options are words on a command line: "--index-url URL" are two.
Words option_words(const Words& options);

// Of a tool's error: names the folders of --find-links that this node lacks, of which pip only
// warns. not_found then.
Error naming_missing_folders(Error error, const Words& options);

class Pip {
 public:
  Pip(Toolbox& tools, const Site& site, std::string python, std::string folder);
  // "pip 23.0.1".
  Result<std::string> version();
  Result<bool> has_reports();  // Debian 11's and older have none
  // Packages that are installed already: solved again, or taken as they are.
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
