#include "agent/daemon/outputs/retrying_sink.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace lockstep::agent {

RetryingSink::RetryingSink(OutputSink& launcher, OutputFunctions::Progress tell,
                           CancelToken& cancel, Duration try_again_after)
    : launcher_(launcher),
      tell_(std::move(tell)),
      cancel_(cancel),
      try_again_after_(try_again_after) {}

Status RetryingSink::push(const snapshot::Snapshot& tree, const transfer::OnProgress& progress) {
  // A try that comes no further than an earlier one reports nothing.
  std::uint64_t least_left = UINT64_MAX;
  int refusals = 0;
  const auto heard = [&](const transfer::Progress& done) {
    const std::uint64_t left = done.total_bytes - std::min(done.done_bytes, done.total_bytes);
    const bool is_further = left < least_left;
    least_left = std::min(least_left, left);
    if (cancel_.no_space() && !is_further) return;
    cancel_.no_space(false);
    progress(done);
  };
  for (;;) {
    Status pushed = launcher_.push(tree, heard);
    const bool no_space = !pushed && pushed.error().code == ErrorCode::resource_exhausted;
    const bool is_away = !pushed && pushed.error().code == ErrorCode::unavailable;
    cancel_.no_space(no_space);
    if (!no_space && !is_away) return pushed;
    const auto give_up = [&] { return make_error(ErrorCode::unavailable, pushed.error().message); };
    if (cancel_.given_up()) return give_up();
    if (no_space) ++refusals;
    const bool is_last = refusals > 1 || second_tries_ == 0;
    if (no_space && cancel_.settles() && is_last)
      return make_error(ErrorCode::resource_exhausted,
                        "was not kept, since the job was canceled and the launcher could not store "
                        "it (" +
                            pushed.error().message + "); to get it, run the job again");
    if (no_space && cancel_.settles()) --second_tries_;
    tell_("waits to send its outputs: " + pushed.error().message);
    if (!cancel_.wait(try_again_after_)) return give_up();
  }
}

}  // namespace lockstep::agent
