#pragma once
// Pushes outputs to the launcher and retries: while the launcher is unreachable, until the
// collection is given up; while its disk is full or broken, until the collection settles.

#include "agent/daemon/outputs/collections.h"
#include "agent/workspace/collect/collect.h"

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
  // Extra tries after settling: a tree that did not fit fills the launcher's disk for a moment, so
  // the next one may fit only a little later.
  int second_tries_ = 5;
};

}  // namespace lockstep::agent
