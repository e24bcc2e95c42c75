#pragma once
// Collects the variables of one rank. set() never overrides a variable that the user set.

#include <map>
#include <string>
#include <utility>

#include "runner/bootstrap/gang_context.h"

namespace lockstep::runner {

class Variables {
 public:
  explicit Variables(const GangContext& gang) : user_(gang.assignment.spec.environment_variables) {}

  void set(const std::string& name, const std::string& value) {
    if (user_.count(name) == 0) values_[name] = value;
  }
  void set(const std::string& name, int value) { set(name, std::to_string(value)); }
  // Overrides also the user's variables. Only for variables without which the job breaks: the
  // rank's connection to its PMIx server.
  void force(const std::string& name, const std::string& value) { values_[name] = value; }
  std::map<std::string, std::string> take() { return std::move(values_); }

 private:
  const std::map<std::string, std::string>& user_;
  std::map<std::string, std::string> values_;
};

}  // namespace lockstep::runner
