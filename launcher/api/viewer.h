#pragma once
// What one caller is shown of the launcher's pictures: jobs that they may not see are left out, of
// those that they may see but not read stay name, state, place and resources, and the values of
// variables are their owner's alone.

#include "common/domain/views.h"
#include "launcher/core/authority.h"
#include "launcher/core/state.h"

namespace lockstep::launcher {

class Viewer {
 public:
  // Both outlive it.
  Viewer(const State& state, const Caller& caller) : state_(state), caller_(caller) {}

  std::string name() const { return name_of(caller_); }
  bool sees(const Job& job) const;
  bool reads(const Job& job) const;  // cut() leaves what its file says
  // It is read by right of a role alone, and that is written down.
  bool is_audited(const JobView& view) const;
  bool sees(const EnvironmentVersion& version) const;
  JobView cut(JobView view) const;
  NodeView cut(NodeView view) const;
  // Words about why something waits, without the names of jobs that the caller may not see.
  std::string cut(std::string words) const;

 private:
  bool may_of(Permission permission, const JobView& view) const;

  const State& state_;
  const Caller& caller_;
};

// In place of a value that the caller may not see.
inline constexpr const char* kHiddenValue = "(hidden)";

}  // namespace lockstep::launcher
