#pragma once
// The progress of a pipeline's steps: which have run, which may begin now, and which never can. A
// value of State, changed only by facts. The cost of a change depends on the dependents of the
// step, not on the number of steps in the pipeline.

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/domain/data/outputs.h"
#include "common/domain/job/pipeline.h"
#include "common/domain/why/why.h"

namespace lockstep::launcher {

class Steps {
 public:
  enum class Phase {
    waiting,
    running,    // the step's job is not final
    completed,  // the step's job completed, or an earlier one whose outputs it reuses
    failed,     // the step's job failed or was canceled
    skipped,    // the step has no job and will get none
  };
  struct Step {
    Phase phase = Phase::waiting;
    JobId job = {};  // the step's job, or the one whose outputs it reuses
    bool reused = false;
    Why why = {};                            // why the step was skipped
    std::vector<MergedOutput> outputs = {};  // the outputs of a completed step
    std::size_t missing = 0;                 // the number of steps that must complete before it
    // The index of the step because of which it can never run: one that failed, or was skipped for
    // a reason of its own; nullopt: there is none so far.
    std::optional<std::size_t> cause = {};
    friend bool operator==(const Step&, const Step&) = default;
  };

  Steps() = default;
  explicit Steps(const PipelineSpec& pipeline);

  void submitted(const std::string& step, const JobId& job);
  // Tells that the job of the step is final.
  void ended(const std::string& step, bool completed, const std::vector<MergedOutput>& outputs);
  void reused(const std::string& step, const JobId& job, const std::vector<MergedOutput>& outputs);
  void skipped(const std::string& step, const Why& why);

  const std::vector<Step>& all() const { return steps_; }  // in the pipeline's order
  const Step& of(const std::string& name) const { return steps_[index_.at(name)]; }
  std::size_t index_of(const std::string& name) const { return index_.at(name); }

  std::vector<JobId> jobs() const;  // the jobs of the steps that have one of their own
  const std::set<std::size_t>& waiting() const { return waiting_; }
  // Steps that may begin: all steps whose outputs they read have completed, and for a `main` step
  // that of on_init, too. The step of on_finalize may begin when all others are over.
  const std::set<std::size_t>& ready() const { return ready_; }
  // Steps that wait for a step that failed or was skipped.
  const std::set<std::size_t>& hopeless() const { return hopeless_; }
  const std::set<std::size_t>& running() const { return running_; }
  // the first step that failed, and was not skipped
  std::optional<std::size_t> first_failed() const { return first_failed_; }
  bool any_unsuccessful() const { return unsuccessful_; }  // a step failed or was skipped
  bool all_over() const { return open_ == 0; }

  friend bool operator==(const Steps&, const Steps&) = default;

 private:
  void depend(std::size_t step, std::size_t on);
  void settle(std::size_t step, Phase phase);

  std::vector<Step> steps_;
  std::map<std::string, std::size_t> index_;
  std::vector<std::vector<std::size_t>> dependents_;
  std::set<std::size_t> waiting_, ready_, hopeless_, running_;
  std::optional<std::size_t> finalizer_;
  std::optional<std::size_t> first_failed_;
  bool unsuccessful_ = false;
  std::size_t open_ = 0;  // the number of steps that are not over
};

}  // namespace lockstep::launcher
