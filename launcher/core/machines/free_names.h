#pragma once
// Names for the machines that an elastic target makes: the next numbers, or free hosts, those that
// waiting jobs ask for first. Pure.

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "launcher/core/placement/shape.h"

namespace lockstep::launcher {

class NewNames {
 public:
  // `shapes`: the shapes of the waiting jobs. All arguments must outlive this object.
  NewNames(const std::string& target, const Compute& compute, const std::set<Shape>& shapes)
      : target_(target), compute_(compute), shapes_(shapes), last_(compute.last_machine) {}

  std::optional<std::string> next();  // nullopt: no host is free

 private:
  std::optional<std::string> next_host(bool is_asked_for);
  bool asked_for(const SshHost& host) const;
  bool take(const std::string& name);  // false: a machine has this name already

  const std::string& target_;
  const Compute& compute_;
  const std::set<Shape>& shapes_;
  std::int64_t last_;
  std::set<std::string> used_;
};

}  // namespace lockstep::launcher
