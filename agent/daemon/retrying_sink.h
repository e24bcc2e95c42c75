#pragma once
// The launcher as a place for what jobs left, tried again until the collection is cancelled:
// while the launcher is away until it is given up, while it has no space until it settles.

#include "agent/daemon/collections.h"
#include "agent/workspace/collect.h"

namespace lockstep::agent {

class RetryingSink final : public OutputSink {
 public:
  RetryingSink(OutputSink& launcher, OutputFunctions::Progress tell, CancelToken& cancel,
               Duration try_again_after = seconds(2));

  Status push(const snapshot::Snapshot& tree, const transfer::OnProgress& progress) override;

 private:
  OutputSink& launcher_;
  const OutputFunctions::Progress tell_;
  CancelToken& cancel_;
  const Duration try_again_after_;
  // A tree that did not fit leaves a disk that is full for a moment: the next may fit after it.
  int second_tries_ = 5;
};

}  // namespace lockstep::agent
