#include "launcher/cli/submit.h"

#include <fmt/format.h>

#include "common/snapshot/capture.h"
#include "common/transfer/transfer.h"

namespace lockstep::cli {

namespace {

constexpr Duration kSubmitTimeout = seconds(60);

Result<snapshot::Snapshot> capture_source(const Context& context, const Submission& submission) {
  snapshot::CaptureOptions options;
  TRY(io::make_directories(context.home.stat_cache(), 0700));
  options.stat_cache = snapshot::stat_cache_path(context.home.stat_cache(), *submission.directory);
  options.own_files = context.home.path();
  options.allow_home_or_root = submission.directory_was_named;
  return snapshot::capture(*submission.directory, options);
}

Status upload(Context& context, Connection& connection, const snapshot::Snapshot& snapshot) {
  const auto sent = transfer::upload_snapshot(
      connection.bulk(), snapshot, [&](const transfer::Progress& progress) {
        context.terminal.progress(fmt::format("uploading {} of {}",
                                              to_string(Bytes{progress.done_bytes}),
                                              to_string(Bytes{progress.total_bytes})));
      });
  context.terminal.clear_status();
  if (!sent) return sent.error();
  return {};
}

}  // namespace

Result<JobId> submit(Context& context, Connection& connection, Submission submission) {
  JobSpec& spec = submission.spec;
  TRY(validate(spec));
  std::optional<snapshot::Snapshot> snapshot;
  if (submission.directory) {
    TRY_ASSIGN(snapshot, capture_source(context, submission));
    spec.snapshot = snapshot->root;
  }
  const std::string key = fmt::format("{:016x}{:016x}", io::random_u64(), io::random_u64());
  hold_interrupts(true);
  for (int round = 0; round < 3; ++round) {
    TRY_ASSIGN(const SubmitReply reply,
               connection.ask_for<SubmitReply>(Submit{key, spec}, kSubmitTimeout));
    if (!reply.snapshot_missing) return reply.job;
    if (!snapshot) break;
    hold_interrupts(false);
    TRY(upload(context, connection, *snapshot));
    hold_interrupts(true);
  }
  return make_error(ErrorCode::internal,
                    "the launcher still lacks parts of the snapshot after they were uploaded; the "
                    "launcher's log says why");
}

}  // namespace lockstep::cli
