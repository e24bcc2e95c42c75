#pragma once
// Decides whether the launcher still sends updates of the watched job. Each update renews the
// lease; when it expires, the launcher is asked, and counts as lost if it does not answer. Times
// are listening times (listening.h). It sends nothing and reads no clock.

#include <optional>

#include "common/domain/client_messages.h"

namespace lockstep::cli {

class WatchLease {
 public:
  struct Limits {
    Duration quiet = kStillWatchingEvery + seconds(2);  // nothing of the job: ask
    Duration answer = seconds(3);                       // asked, and nothing at all came: lost
  };
  explicit WatchLease(Limits limits) : limits_(limits) {}

  // An answer to our watch, or what is sent to those who watch.
  void renewed(Duration now) {
    renewed_at_ = now;
    waiting_since_.reset();
  }
  // Anything else: the launcher lives.
  void heard() { waiting_since_.reset(); }
  // An answer is due from now on: the launcher was asked, or the link is broken.
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
