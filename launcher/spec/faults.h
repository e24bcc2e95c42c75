#pragma once
// All that is wrong with one file, in its order: a reader adds what it finds and goes on, so that a
// person mends the file once. It also knows which keys are wrong already, so that nothing is said
// of what follows from them alone.

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

inline constexpr std::size_t kMaxShownFaults = 20;

class Faults {
 public:
  // `place` orders it; those of a --set come last. Nothing is added of a good status, and of an
  // error of another Faults each of its lines.
  void add(const Place& place, const Error& error);
  void add(const Place& place, const Status& status) {
    if (!status) add(place, status.error());
  }

  // The dotted path is of no use to who reads on.
  void spoil(std::string_view path) { spoilt_.emplace(path); }
  // It, or something inside it.
  bool is_spoilt(std::string_view path) const;

  bool empty() const { return faults_.empty(); }
  // Good when nothing was added. Else one error with a line for each fault, of the first one's
  // code; beyond kMaxShownFaults the last line is "and 3 more".
  Status status() const;

 private:
  struct Fault {
    Place place;
    Error error;
  };
  std::vector<Fault> faults_;
  std::set<std::string> spoilt_;
};

// The lines of an error that Faults made, or the error itself.
std::vector<Error> faults_of(const Error& error);

}  // namespace lockstep::spec
