#pragma once
// Passes frames of attachments between the launcher's bulk connection and the runners of this node.
// It remembers to which attempt an attachment belongs, but no bytes, and nothing across its own
// restart. Undeliverable frames are dropped; the client opens the attachment again, from which this
// object also learns about it (docs/decisions/078-attach.md).

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/domain/runners/attach_frames.h"

namespace lockstep::agent {

inline constexpr std::size_t kMaxAttachmentsOfNode = 4096;

class AttachRelay {
 public:
  // The state of a part, for attachments.
  enum class Standing {
    absent,    // the part does not run here, or not any more
    starting,  // the part's runner has not started yet
    running,
  };
  struct Callbacks {
    std::function<Standing(const AttemptId&)> standing;
    std::function<void(const AttemptId&, const AttachFrame&)> to_runner;
    // called for frames that go over the bulk connection
    std::function<void(const AttachFrame&)> to_launcher;
    std::function<bool()> is_link_up;
    // Whether the bulk connection is needed; asked for again with each frame that needs it.
    std::function<void(bool)> hold_link;
  };
  explicit AttachRelay(Callbacks callbacks) : callbacks_(std::move(callbacks)) {}

  void from_launcher(const AttachFrame& frame, Instant now);
  // `attempt`: the attempt of the runner that sent the frame.
  void from_runner(const AttemptId& attempt, const AttachFrame& frame);
  // Called when there is a bulk connection, perhaps another one: the launcher hears over it who is
  // attached.
  void on_link_up(Instant now);
  // Tells the clients of a runner that it has ended.
  void gone(const AttemptId& attempt);

  // When to call tick(). An opening that came before the bulk connection waits for it, so that its
  // answer need not be requested again. An attachment whose client was silent for kAttachSilence is
  // removed.
  Instant next_deadline() const;
  void tick(Instant now);
  std::size_t size() const { return known_.size(); }

 private:
  struct Known {
    AttemptId attempt;
    Instant heard;
  };
  struct Waiting {
    AttachFrame frame;
    Instant came;
  };
  void open(const AttachFrame& frame, Instant now);
  void let_go_of_link();
  void refuse(const AttachId& id, std::string message, bool for_now);
  void forget(const AttachId& id);

  const Callbacks callbacks_;
  std::map<AttachId, Known> known_;
  std::vector<Waiting> waiting_;        // openings, while the bulk connection is being made
  Instant look_at_ = Instant::never();  // when to look for silent clients next
};

}  // namespace lockstep::agent
