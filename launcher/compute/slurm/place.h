#pragma once
// The shared directory of a Slurm target:
//
//   DIRECTORY/lockstep-LAUNCHER-TARGET/     mode 0700
//     tag                                   the launcher and the target to which the folder belongs
//     bundle-DIGEST/                        the unpacked bundle
//     machines/MACHINE/token                until its agent has joined
//     machines/MACHINE/log.JOB              the agent's output

#include <string>

#include "launcher/compute/contract.h"
#include "launcher/compute/slurm/settings.h"

namespace lockstep::compute::slurm {

class Place {
 public:
  Place(const Request& request, const Settings& settings);

  const std::string& directory() const { return directory_; }
  std::string machine(const std::string& name) const;
  std::string token(const std::string& name) const { return machine(name) + "/token"; }
  std::string log(const std::string& name, const std::string& job) const {
    return machine(name) + "/log." + job;
  }

  // Makes the folders and files that the machines of the request need. Returns conflict if the
  // directory belongs to another launcher, or if other accounts can change it.
  Status prepare(const std::string& archive, const std::string& digest) const;
  Status put_token(const compute::Machine& machine) const;
  // Whether the agent of this job has joined, by its output.
  bool has_joined(const std::string& name, const std::string& job) const;
  // The last line that the job printed.
  std::string last_words(const std::string& name, const std::string& job) const;
  // Removes the machine's files, and everything with the last machine.
  Status remove(const std::string& name) const;

 private:
  Status expect_ours() const;

  std::string directory_, tag_, lock_;
  std::vector<std::string> names_;
};

}  // namespace lockstep::compute::slurm
