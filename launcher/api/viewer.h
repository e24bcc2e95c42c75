#pragma once
// Filters the launcher's views for one caller: jobs that they may not see are left out; of jobs
// that they may see but not read, only name, state, place and resources remain; values of variables
// are shown only to their owner.

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
  // The caller may read it only because of a role, so the audit log notes it.
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
