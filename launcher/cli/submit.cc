#include "launcher/cli/submit.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "common/base/quoted_name.h"
#include "common/io/clock.h"
#include "common/snapshot/capture.h"
#include "common/transfer/transfer.h"
#include "launcher/cli/fetched_file.h"
#include "launcher/cli/paced_lines.h"

namespace lockstep::cli {

namespace {

// On a terminal in the status line; elsewhere a line now and then.
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

Result<transfer::Captured> capture(Context& context, Connection& connection,
                                   const std::string& directory, snapshot::CaptureOptions options) {
  TRY(io::make_directories(context.home.stat_cache(), 0700));
  options.own_files = context.home.path();
  TRY_ASSIGN(io::ClientSocket* const bulk, connection.bulk());
  UploadProgress shown(context.terminal);
  auto captured = transfer::capture_and_send(
      *bulk, directory, std::move(options), [&](const transfer::Progress& progress) {
        shown.show(progress.done_bytes, progress.total_bytes);
      });
  context.terminal.clear_status();
  return captured;
}

Result<transfer::Captured> capture_source(Context& context, Connection& connection,
                                          const Submission& submission) {
  snapshot::CaptureOptions options;
  options.stat_cache = snapshot::stat_cache_path(context.home.stat_cache(), *submission.directory);
  options.allow_home_or_root = submission.directory_was_named;
  return capture(context, connection, *submission.directory, std::move(options));
}

// An engine would see all of it, so that nothing of it may be left out: but a socket, which engines
// leave out themselves.
Result<transfer::Captured> capture_build(Context& context, Connection& connection,
                                         const spec::BuildFolder& build) {
  snapshot::CaptureOptions options;
  options.stat_cache = snapshot::stat_cache_path(context.home.stat_cache(), build.path) + ".build";
  options.allow_home_or_root = true;
  options.is_source = false;
  auto captured = capture(context, connection, build.path, std::move(options));
  if (!captured) return captured.error().within(build.where);
  for (const snapshot::SkippedPath& skipped : captured->snapshot.skipped) {
    const std::string path = quoted_name(build.path + "/" + skipped.path);
    if (skipped.pattern != snapshot::kSocket)
      return make_error(ErrorCode::unsupported,
                        fmt::format("{}: {} cannot be uploaded: {}; move it out of the folder",
                                    build.where, path, skipped.pattern));
    context.terminal.print_line(fmt::format("{} is a socket, so it is not uploaded", path));
  }
  return captured;
}

// All of a folder, or the one file. What cannot be read is not passed over: the ranks would miss
// it.
Result<transfer::Captured> capture_data(Context& context, Connection& connection,
                                        const spec::LocalData& local, const std::string& file) {
  snapshot::CaptureOptions options;
  if (local.url.empty())  // a fetched file is another one each time
    options.stat_cache = snapshot::stat_cache_path(context.home.stat_cache(), local.path) + ".data";
  options.allow_home_or_root = true;
  options.is_source = false;
  options.only = file;
  const std::string folder =
      file.empty() ? local.path : local.path.substr(0, local.path.rfind('/') + 1);
  auto captured = capture(context, connection, folder, std::move(options));
  if (captured && captured->snapshot.skipped.empty()) return captured;
  Error error;
  if (!captured) {
    error = captured.error();
  } else {
    const snapshot::SkippedPath& skipped = captured->snapshot.skipped.front();
    error = make_error(ErrorCode::unsupported,
                       fmt::format("{} cannot be uploaded: {}",
                                   quoted_name(folder + "/" + skipped.path), skipped.pattern));
  }
  return local.where.empty() ? error : error.within(local.where);
}

DataInput& input_of(JobSpec& spec, const std::string& name) {
  return *std::find_if(spec.data.begin(), spec.data.end(),
                       [&](const DataInput& input) { return input.name == name; });
}

ImageBuild& build_of(EnvironmentSpec& environment) {
  return *std::get<DockerEnvironment>(environment.definition).build;
}

// Files of the web that a submission needs, until it is over.
using Fetched = std::vector<FetchedFile>;

Status fetch_data(Context& context, spec::LocalData& local, const DataInput& input,
                  Fetched& fetched) {
  if (local.url.empty()) return {};
  const std::string what = printable(local.url);
  io::SystemClock clock;
  PacedLines lines(clock.now());
  auto file = FetchedFile::fetch(
      local.url, input.file, context.home.path() + "/fetched", [&](Bytes so_far) {
        const std::string text = fmt::format("fetching {}: {}", what, to_string(so_far));
        if (context.terminal.has_status_line()) return context.terminal.progress(text);
        if (lines.take(clock.now())) context.terminal.print_line(text);
      });
  context.terminal.clear_status();
  if (!file) return file.error().within(fmt::format("{}: cannot fetch {}", local.where, what));
  local.path = file->folder() + "/" + input.file;
  fetched.push_back(*std::move(file));
  return {};
}

Status upload(Context& context, Connection& connection, const transfer::Captured& captured) {
  const std::uint64_t before = captured.landed_bytes;
  TRY_ASSIGN(io::ClientSocket* const bulk, connection.bulk());
  UploadProgress shown(context.terminal);
  const auto sent =
      transfer::upload_snapshot(*bulk, captured.snapshot, [&](const transfer::Progress& progress) {
        shown.show(before + progress.done_bytes, before + progress.total_bytes);
      });
  context.terminal.clear_status();
  if (!sent) return sent.error();
  return {};
}

}  // namespace

Result<JobId> submit(Context& context, Connection& connection, Submission submission) {
  JobSpec& spec = submission.spec;
  TRY(validate(spec));
  std::vector<transfer::Captured> captured;
  if (submission.directory) {
    TRY_ASSIGN(captured.emplace_back(), capture_source(context, connection, submission));
    spec.snapshot = captured.back().snapshot.root;
  }
  if (submission.build) {
    TRY_ASSIGN(captured.emplace_back(), capture_build(context, connection, *submission.build));
    build_of(*spec.environment).context = captured.back().snapshot.root;
  }
  Fetched fetched;
  for (spec::LocalData& local : submission.data) {
    DataInput& input = input_of(spec, local.name);
    if (input.mode == InputMode::direct) continue;
    TRY(fetch_data(context, local, input, fetched));
    auto data = capture_data(context, connection, local, input.file);
    if (!data) return data.error();
    input.tree = data->snapshot.root;
    captured.push_back(*std::move(data));
  }
  const std::string key = fmt::format("{:016x}{:016x}", io::random_u64(), io::random_u64());
  hold_interrupts(true);
  for (int round = 0; round < 3; ++round) {
    TRY_ASSIGN(const SubmitReply reply, connection.ask_for<SubmitReply>(
                                            Submit{key, spec, submission.rebuild}, kSubmitTimeout));
    if (!reply.snapshot_missing) {
      if (!submission.quiet)
        for (const std::string& note : reply.notes) context.terminal.print_line(note);
      return reply.job;
    }
    if (captured.empty()) break;
    hold_interrupts(false);
    for (const transfer::Captured& one : captured) TRY(upload(context, connection, one));
    hold_interrupts(true);
  }
  return make_error(ErrorCode::internal,
                    "the launcher still does not have all of the job's files after they were "
                    "uploaded; the launcher's log says why");
}

Status send_build(Context& context, Connection& connection, const spec::BuildFolder& build,
                  EnvironmentSpec& environment) {
  TRY_ASSIGN(const transfer::Captured captured, capture_build(context, connection, build));
  build_of(environment).context = captured.snapshot.root;
  return upload(context, connection, captured);
}

Status send_files(Context& context, Connection& connection, const spec::LocalData& local,
                  RegisteredAsset& asset) {
  TRY_ASSIGN(const transfer::Captured captured,
             capture_data(context, connection, local, asset.file));
  asset.tree = captured.snapshot.root;
  return upload(context, connection, captured);
}

}  // namespace lockstep::cli
