#pragma once
// Tells whether the launcher still reports the job that we watch. Each report about the job renews
// the lease. When the lease has run out, the caller must ask the launcher; if no message comes
// then, the launcher is lost. All times count only while we listened (listening.h). Sends nothing
// and reads no clock.

#include <optional>

#include "common/domain/messages/client_protocol.h"

namespace lockstep::cli {

class WatchLease {
 public:
  struct Limits {
    // without a report on the job for this time, it is asked
    Duration quiet = kStillWatchingEvery + seconds(2);
    Duration answer = seconds(3);  // lost, if no message at all comes in this time after asking
  };
  explicit WatchLease(Limits limits) : limits_(limits) {}

  // Tells that an answer to our watch request arrived, or an update that watchers get.
  void renewed(Duration now) {
    renewed_at_ = now;
    waiting_since_.reset();
  }
  // Tells that any other message arrived: the launcher is alive.
  void heard() { waiting_since_.reset(); }
  // Tells that an answer is due from now on: the launcher was asked, or cannot be asked because the
  // link is broken.
  void expect_answer(Duration now) {
    if (!waiting_since_) waiting_since_ = now;
  }

  bool must_ask(Duration now) const {
    return waiting_since_.has_value() || now - renewed_at_ >= limits_.quiet;
  }
  bool is_lost(Duration now) const {
    return waiting_since_ && now - *waiting_since_ > limits_.answer;
  }

 private:
  const Limits limits_;
  Duration renewed_at_{};
  std::optional<Duration> waiting_since_;
};

}  // namespace lockstep::cli
