#pragma once
// Files go to the launcher, and the terminal shows how far they are.

#include <fmt/format.h>
#include <cstdint>

#include "common/io/clock.h"
#include "common/snapshot/capture/capture.h"
#include "common/transfer/transfer.h"
#include "launcher/cli/base/verb_context.h"
#include "launcher/cli/terminal/paced_lines.h"

namespace lockstep::cli {

// The options of an upload for a request: it fails soon after a local launcher went away.
transfer::TransferOptions upload_limits(const Context& context);

// Limits of waiting. A local launcher that went away starts again only with the next command, so it
// is waited for so long; one of a site's is started again by others.
transfer::TransferOptions waiting_for_local(const Context& context, Duration time);

// Shows progress: on a terminal in the status line; elsewhere a line now and then.
class UploadProgress {
 public:
  explicit UploadProgress(Terminal& terminal) : terminal_(terminal) {}

  void show(std::uint64_t done, std::uint64_t total) {
    const std::string text =
        fmt::format("uploading {} of {}", to_string(Bytes{done}), to_string(Bytes{total}));
    if (terminal_.has_status_line()) return terminal_.progress(text);
    if (lines_.take(clock_.now())) terminal_.print_line(text);
  }

 private:
  Terminal& terminal_;
  io::SystemClock clock_;
  PacedLines lines_{clock_.now()};
};

// Sends the captured blobs that the launcher lacks.
Status upload(Context& context, Connection& connection, const transfer::Captured& captured);

}  // namespace lockstep::cli
