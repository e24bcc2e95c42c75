#pragma once
// The texts that words of a Dockerfile may become when an engine replaces variables. All values of
// ARG and ENV count, wherever they stand: an engine uses one of them, or none.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::envs {

class DockerfileVariables {
 public:
  // Adds a value; both with their quotes and escapes, which end a variable's name. podman puts
  // variables into names as well.
  void add(std::string_view name, std::string_view value);
  // The texts that a word may become, without quotes and escapes. nullopt: too many, or a form that
  // is not known here.
  std::optional<std::set<std::string>> expand(std::string_view word) const;

 private:
  struct Use;  // the use of a variable in a text
  using Texts = std::set<std::string>;
  static std::optional<Use> use_at(std::string_view text);
  bool expand(std::string_view text, int depth, int& steps, Texts& all) const;
  bool values(const Use& use, int depth, int& steps, Texts& all) const;

  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  bool any_has_unknown_value_ = false;
};

}  // namespace lockstep::envs
