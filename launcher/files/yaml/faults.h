#pragma once
// Collects all faults of one file, in the file's order. A reader adds a fault and continues, so
// that a person can correct all of them at once. It also remembers which keys are wrong, so that no
// fault is reported that only follows from another.

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

inline constexpr std::size_t kMaxShownFaults = 20;
inline constexpr std::size_t kMaxKeptFaults = 1'000;  // further ones are only counted

class Faults {
 public:
  // Adds a fault. Faults are sorted by `place`; faults of a --set come last. A good status adds
  // nothing; an error made by another Faults adds one fault for each of its lines. A message that
  // is there already adds nothing: several steps may use one faulty component.
  void add(const Place& place, const Error& error);
  void add(const Place& place, const Status& status) {
    if (!status) add(place, status.error());
  }

  // Marks the value at this dotted path as wrong, so that later checks skip it.
  void mark_faulty(std::string_view path) { faulty_.emplace(path); }
  // Whether the value at `path`, or one inside it, is marked.
  bool is_faulty(std::string_view path) const;

  // Adds all of `others`, without the paths that are wrong there.
  void add_all(const Faults& others);

  bool empty() const { return faults_.empty(); }
  bool is_full() const { return faults_.size() >= kMaxKeptFaults; }
  // Returns success if nothing was added. Otherwise one error with a line for each fault and the
  // first fault's code; beyond kMaxShownFaults the last line is "and 3 more".
  Status status() const;

 private:
  struct Fault {
    Place place;
    Error error;
  };
  std::vector<Fault> faults_;
  std::set<std::string> messages_;
  std::size_t more_ = 0;
  std::set<std::string> faulty_;
};

// The lines of an error that Faults made, or the error itself.
std::vector<Error> faults_of(const Error& error);

}  // namespace lockstep::spec
