#pragma once
// The launcher as a place for what jobs left, tried again for as long as a collection has patience:
// while the launcher is away until it is given up, while it has no space until it settles.

#include "agent/collections.h"
#include "agent/workspace/collect.h"

namespace lockstep::agent {

class PatientSink final : public OutputSink {
 public:
  PatientSink(OutputSink& launcher, OutputFunctions::Progress tell, Patience& patience,
              Duration try_again_after = seconds(2));

  Status push(const snapshot::Snapshot& tree, const transfer::OnProgress& progress) override;

 private:
  OutputSink& launcher_;
  const OutputFunctions::Progress tell_;
  Patience& patience_;
  const Duration try_again_after_;
  // A tree that did not fit leaves a disk that is full for a moment: the next may fit after it.
  int second_tries_ = 5;
};

}  // namespace lockstep::agent
