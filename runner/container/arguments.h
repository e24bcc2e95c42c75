#pragma once
// Parses the options that a job adds to `docker run`, as docker does, where the runner needs their
// values or implements them itself. The launcher has checked which options are allowed.

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::runner {

class Arguments {
 public:
  explicit Arguments(const std::vector<std::string>& words);

  // `name`: without dashes. All values, in their order.
  std::vector<std::string> all(const std::string& name) const;
  std::string last(const std::string& name) const;  // "" = it is not there
  bool is_on(const std::string& flag) const;
  // The variables of --env. Ranks get exactly the environment that we build, so we pass these on
  // ourselves.
  std::map<std::string, std::string> variables() const;
  // Every option but --env, as "--name=value".
  std::vector<std::string> without_variables() const;

 private:
  std::vector<std::pair<std::string, std::string>> given_;
};

// In the format of an engine's --env-file, without values of several lines, which it cannot hold.
// Ranks get those from us; only the engine's hooks miss them.
std::string env_file_text(const std::map<std::string, std::string>& variables);

}  // namespace lockstep::runner
