#include "launcher/cli/submit.h"

#include <fmt/format.h>

#include "common/snapshot/capture.h"
#include "common/transfer/transfer.h"

namespace lockstep::cli {

namespace {

constexpr Duration kSubmitTimeout = seconds(60);

void show(Context& context, std::uint64_t done, std::uint64_t total) {
  context.terminal.progress(
      fmt::format("uploading {} of {}", to_string(Bytes{done}), to_string(Bytes{total})));
}

Result<transfer::Captured> capture_source(Context& context, Connection& connection,
                                          const Submission& submission) {
  snapshot::CaptureOptions options;
  TRY(io::make_directories(context.home.stat_cache(), 0700));
  options.stat_cache = snapshot::stat_cache_path(context.home.stat_cache(), *submission.directory);
  options.own_files = context.home.path();
  options.allow_home_or_root = submission.directory_was_named;
  auto captured =
      transfer::capture_and_send(connection.bulk(), *submission.directory, std::move(options),
                                 [&](const transfer::Progress& progress) {
                                   show(context, progress.done_bytes, progress.total_bytes);
                                 });
  context.terminal.clear_status();
  return captured;
}

// `before`: what landed of it while it was captured.
Status upload(Context& context, Connection& connection, const snapshot::Snapshot& snapshot,
              std::uint64_t before) {
  const auto sent = transfer::upload_snapshot(
      connection.bulk(), snapshot, [&](const transfer::Progress& progress) {
        show(context, before + progress.done_bytes, before + progress.total_bytes);
      });
  context.terminal.clear_status();
  if (!sent) return sent.error();
  return {};
}

}  // namespace

Result<JobId> submit(Context& context, Connection& connection, Submission submission) {
  JobSpec& spec = submission.spec;
  TRY(validate(spec));
  std::optional<transfer::Captured> captured;
  if (submission.directory) {
    TRY_ASSIGN(captured, capture_source(context, connection, submission));
    spec.snapshot = captured->snapshot.root;
  }
  const std::string key = fmt::format("{:016x}{:016x}", io::random_u64(), io::random_u64());
  hold_interrupts(true);
  for (int round = 0; round < 3; ++round) {
    TRY_ASSIGN(const SubmitReply reply, connection.ask_for<SubmitReply>(
                                            Submit{key, spec, submission.rebuild}, kSubmitTimeout));
    if (!reply.snapshot_missing) return reply.job;
    if (!captured) break;
    hold_interrupts(false);
    TRY(upload(context, connection, captured->snapshot, captured->landed_bytes));
    hold_interrupts(true);
  }
  return make_error(ErrorCode::internal,
                    "the launcher still lacks parts of the snapshot after they were uploaded; the "
                    "launcher's log says why");
}

}  // namespace lockstep::cli
