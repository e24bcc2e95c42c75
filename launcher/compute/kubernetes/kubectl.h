#pragma once
// Runs the site's own kubectl. Manifests go through its standard input.

#include <string>
#include <string_view>
#include <vector>

#include "common/io/programs/run_program.h"
#include "launcher/compute/at_once.h"
#include "launcher/compute/kubernetes/settings.h"

namespace lockstep::compute::kubernetes {

class Kubectl {
 public:
  // Finds kubectl on our PATH; returns unreachable if it is missing.
  static Attempt<Kubectl> open(const Settings& settings);

  // Runs kubectl and returns its standard output. `objects`: how many objects the call is about; a
  // call about many gets more time.
  Attempt<std::string> run(const std::string& step, const std::vector<std::string>& words,
                           std::string_view input = "", std::size_t objects = 1) const;
  // Runs kubectl and returns its output whatever its exit code.
  Attempt<io::ProgramOutput> try_to(const std::string& step, const std::vector<std::string>& words,
                                    std::string_view input, std::size_t objects) const;

 private:
  explicit Kubectl(std::vector<std::string> beginning) : beginning_(std::move(beginning)) {}

  std::vector<std::string> beginning_;  // the program, and how it finds the cluster
};

// The failure that kubectl's standard error describes.
Failed kubectl_failure(const std::string& step, std::string_view errors);
// The lines of kubectl's errors that are about one object; "": none.
std::string lines_about(std::string_view errors, std::string_view object);
// "/api/v1/namespaces/NAMESPACE/REST"
std::string path_in(const Settings& settings, std::string_view rest);

}  // namespace lockstep::compute::kubernetes
