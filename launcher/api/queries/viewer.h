#pragma once
// Puts the reasons of the launcher's views into words, and cuts the views down to what one caller
// may see. It leaves out jobs that the caller may not see; of a job that the caller may see but not
// read it keeps name, state, place and resources; and it hides the values of variables from all who
// may not read them. No other place decides which words and reasons of a job are shown to whom:
// each has a class (launcher/core/explain/words_of.h), and every answer about a job goes through
// cut().

#include <cstddef>
#include <string>
#include <vector>

#include "common/domain/messages/views.h"
#include "common/domain/why/all/redact.h"
#include "launcher/core/access/authority.h"
#include "launcher/core/explain/words_of.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

class Viewer {
 public:
  // Both references must outlive the viewer.
  Viewer(const State& state, const Caller& caller) : state_(state), caller_(caller) {}

  std::string name() const { return name_of(caller_); }
  std::string owner() const { return owner_of(caller_); }  // whose jobs are the caller's own
  bool sees(const Job& job) const;
  bool reads(const Job& job) const;  // then cut() keeps the contents of its job file
  // The caller reads this job only by virtue of a role, so the read goes into the audit log.
  bool is_audited(const JobView& view) const;
  bool is_audited(const Job& job) const;
  bool sees(const EnvironmentVersion& version) const;
  // Whether the caller is told of the locks of this account's jobs: one's own; an admin, of all.
  bool sees_locks_of(const std::string& account) const;
  JobView cut(JobView view) const;
  ExplainView cut(ExplainView view) const;
  JobEvent cut(JobEvent event, const Job& of) const;
  // The words as the caller is told them; "": not at all. `reads`: the caller may read the job that
  // they are about.
  std::string tell(WordsOf of, std::string words, bool reads) const;
  Why tell(WordsOf of, const Why& why, bool reads) const;
  // A text that is `why` in words, after what is told of that.
  void tell(WordsOf of, Why& why, std::string& words, bool reads) const;
  NodeView cut(NodeView view) const;
  // For those who may not change targets: without jobs that they may not see, and without what a
  // provider is given, which may hold credentials.
  std::vector<ComputeView> cut(std::vector<ComputeView> views) const;
  // What is done with the name of a deleted job: the launcher does not know any more who owned it.
  enum class Gone { shown, hidden };
  // Without the names of jobs that the caller may not see.
  Why cut(const Why& why, Gone gone = Gone::shown) const;
  std::string cut(std::string words, Gone gone = Gone::shown) const;

 private:
  Object object_of(const JobView& view) const;
  HiddenJob hidden_job() const;  // stands for a job that the caller may not see
  bool is_hidden(const JobId& job, Gone gone) const;
  bool is_in_force() const;  // an attempt's credential may have ended since it began to watch
  bool may_of(Permission permission, const JobView& view) const;

  const State& state_;
  const Caller& caller_;
};

// A reply with a list has about so many bytes; what is beyond is asked for, or has no content.
inline constexpr std::size_t kMaxPageBytes = 8u << 20;

// Shown in place of a value that the caller may not see.
inline constexpr const char* kHiddenValue = "(hidden)";

}  // namespace lockstep::launcher
