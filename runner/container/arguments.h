#pragma once
// Parses the options that a job adds to `docker run`, as docker does, because the runner must know
// some of them and carry out others itself. The launcher has checked that they are allowed.

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::runner {

class Arguments {
 public:
  explicit Arguments(const std::vector<std::string>& words);

  // The values of an option, in order. `name`: without dashes.
  std::vector<std::string> all(const std::string& name) const;
  std::string last(const std::string& name) const;  // "": the option is not given
  bool is_on(const std::string& flag) const;
  // The variables of --env. The runner passes them on, because ranks get no variables from the
  // engine.
  std::map<std::string, std::string> variables() const;
  // The options except --env, as "--name=value".
  std::vector<std::string> without_variables() const;

 private:
  std::vector<std::pair<std::string, std::string>> given_;
};

// The text of an --env-file. Values with several lines are left out, because the format cannot hold
// them; ranks get them from the runner anyway, and only the engine's own hooks read this file.
std::string env_file_text(const std::map<std::string, std::string>& variables);

}  // namespace lockstep::runner
