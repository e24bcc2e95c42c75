#pragma once
// The options among the words that a job adds to `docker run`, as docker reads them: for what has
// to be known of them here, or done in the engine's place. Which may be there, the launcher has
// checked.

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
  // --env: ranks get exactly what we give them, so that it is for us to pass on.
  std::map<std::string, std::string> variables() const;
  // Every option but --env, as "--name=value".
  std::vector<std::string> without_variables() const;

 private:
  std::vector<std::pair<std::string, std::string>> given_;
};

// As an engine's --env-file takes them. Values of several lines are left out: the ranks get them
// from us all the same, and only the engine's own hooks read these.
std::string env_file_text(const std::map<std::string, std::string>& variables);

}  // namespace lockstep::runner
