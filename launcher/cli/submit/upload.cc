#include "launcher/cli/submit/upload.h"

namespace lockstep::cli {

namespace {

constexpr Duration kDownWhileSending = seconds(9);

}  // namespace

transfer::TransferOptions waiting_for_local(const Context& context, Duration time) {
  transfer::TransferOptions limits;
  if (context.launcher.empty()) limits.down_after = time;
  return limits;
}

Status upload(Context& context, Connection& connection, const transfer::Captured& captured) {
  const std::uint64_t before = captured.durable_bytes;
  TRY_ASSIGN(io::ClientSocket* const bulk, connection.bulk());
  UploadProgress shown(context.terminal);
  const auto show = [&](const transfer::Progress& progress) {
    shown.show(before + progress.done_bytes, before + progress.total_bytes);
  };
  const auto sent =
      transfer::upload_snapshot(*bulk, captured.snapshot, show, upload_limits(context));
  context.terminal.clear_status();
  if (!sent) return sent.error();
  return {};
}

transfer::TransferOptions upload_limits(const Context& context) {
  return waiting_for_local(context, kDownWhileSending);
}

}  // namespace lockstep::cli
