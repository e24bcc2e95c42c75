#include "launcher/cli/submit/submit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>
#include <vector>

#include "common/base/quoted_name.h"
#include "common/domain/job/pipeline.h"
#include "common/io/clock.h"
#include "common/snapshot/capture/composition.h"
#include "common/snapshot/capture/downloaded.h"
#include "common/transfer/head_start.h"
#include "launcher/cli/submit/upload.h"
#include "launcher/cli/terminal/paced_lines.h"
#include "launcher/cli/transfer/before_request.h"
#include "launcher/cli/transfer/capture_lines.h"
#include "launcher/cli/transfer/fetched_file.h"
#include "launcher/files/data/data_path.h"

namespace lockstep::cli {

namespace {

// Shorter than while files are sent, because the upload after it waits again.
constexpr Duration kDownWhileReading = seconds(4);

// How folders of a submission are captured.
struct Taking {
  snapshot::Links links = snapshot::Links::follow;
  bool quiet = false;
  CapturedFor purpose = CapturedFor::job;
};
constexpr Taking kToRegister{snapshot::Links::follow, false, CapturedFor::registration};

// Notes of the capture are shown before anything is sent.
Result<transfer::Captured> capture(Context& context, Connection& connection,
                                   const std::string& directory, const Taking& how,
                                   snapshot::CaptureOptions options) {
  TRY(io::make_directories(context.home.stat_cache(), 0700));
  options.own_files = context.home.path();
  options.links = how.links;
  PendingLines lines;
  if (!how.quiet)
    options.on_scanned = [&](const snapshot::CaptureReport& report) {
      lines.add(capture_lines(directory, report, how.purpose));
    };
  UploadProgress shown(context.terminal);
  const auto show = [&](const transfer::Progress& progress) {
    lines.print(context.terminal);
    shown.show(progress.done_bytes, progress.total_bytes);
  };
  auto captured = transfer::capture_and_send(
      [&] {
        lines.print(context.terminal);
        return connection.bulk();
      },
      directory, std::move(options), show, waiting_for_local(context, kDownWhileReading));
  lines.print(context.terminal);
  context.terminal.clear_status();
  return captured;
}

// Writes one line for all downloads.
void tell_of_downloads(Context& context, const snapshot::Snapshot& snapshot) {
  std::size_t more = 0;
  std::string first;
  for (const snapshot::SkippedPath& skipped : snapshot.skipped) {
    if (skipped.pattern != snapshot::kDownloaded || !skipped.source.empty()) continue;
    if (first.empty())
      first = skipped.path;
    else
      ++more;
  }
  if (first.empty()) return;
  context.terminal.print_line(fmt::format(
      "not sent: {}{}, which lockstep downloaded; what the job needs of it, move to a folder of "
      "your own",
      quoted_name(first),
      more == 0 ? "" : fmt::format(" and {} more folder{}", more, more == 1 ? "" : "s")));
}

// Jobs keep their outputs at this path in the working directory.
Status check_code_name(const std::string& key, const std::string& name, const std::string& path) {
  if (name != kReservedFolder) return {};
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("{}: {} has the name of the folder in which jobs keep their "
                                "outputs; give it another name",
                                key, quoted_name(path)));
}

bool is_file(const std::string& path) {
  std::error_code failure;
  return std::filesystem::is_regular_file(path, failure);
}

Result<transfer::Captured> capture_source(Context& context, Connection& connection,
                                          const std::string& directory, bool was_named,
                                          const Taking& how) {
  snapshot::CaptureOptions options;
  options.stat_cache = snapshot::stat_cache_path(context.home.stat_cache(), directory);
  options.allow_home_or_root = was_named;
  if (!is_file(directory)) {
    auto captured = capture(context, connection, directory, how, std::move(options));
    if (captured && !how.quiet) tell_of_downloads(context, captured->snapshot);
    return captured;
  }
  // A named file is captured alone: ignore rules do not exclude it.
  const std::filesystem::path file = std::filesystem::absolute(directory).lexically_normal();
  TRY(check_code_name("code", file.filename().string(), directory));
  options.is_source = false;
  options.only = file.filename().string();
  return capture(context, connection, file.parent_path().string(), how, std::move(options));
}

// Captures a build folder. An engine reads the whole context, so nothing may be left out except
// sockets, which engines leave out, too. Links are not followed, as engines do not follow them.
Result<transfer::Captured> capture_build(Context& context, Connection& connection,
                                         const spec::BuildFolder& build) {
  snapshot::CaptureOptions options;
  options.stat_cache = snapshot::stat_cache_path(context.home.stat_cache(), build.path) + ".build";
  options.allow_home_or_root = true;
  options.is_source = false;
  auto captured =
      capture(context, connection, build.path, {snapshot::Links::keep}, std::move(options));
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

// Captures a whole folder or one file. A file that cannot be read is an error, because the ranks
// would miss it.
Result<transfer::Captured> capture_data(Context& context, Connection& connection,
                                        const spec::LocalData& local, const std::string& file,
                                        const Taking& how) {
  snapshot::CaptureOptions options;
  if (local.url.empty())  // a fetched file has another path each time
    options.stat_cache = snapshot::stat_cache_path(context.home.stat_cache(), local.path) + ".data";
  options.allow_home_or_root = true;
  options.is_source = false;
  options.only = file;
  const std::string folder =
      file.empty() ? local.path : local.path.substr(0, local.path.rfind('/') + 1);
  auto captured = capture(context, connection, folder, how, std::move(options));
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

// Files from the web that a submission needs; they are removed when it is over.
using Fetched = std::vector<FetchedFile>;

Status fetch_data(Context& context, spec::LocalData& local, const DataInput& input,
                  Fetched& fetched) {
  if (local.url.empty()) return {};
  const std::string what = printable(spec::without_credentials(local.url));
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

// Captures everything that a submission takes from this machine, each folder and file once.
class Captures {
 public:
  Captures(Context& context, Connection& connection, bool quiet)
      : context_(context), connection_(connection), quiet_(quiet) {}

  // Sets the digests in `spec`.
  Status add(JobSpec& spec, const std::optional<std::string>& directory, bool was_named,
             const std::vector<std::string>& includes,
             const std::optional<spec::BuildFolder>& build, std::vector<spec::LocalData>& data,
             snapshot::Links links) {
    how_ = {links, quiet_};
    if (!includes.empty()) {
      TRY_ASSIGN(spec.snapshot, compose(directory, includes));
    } else if (directory) {
      TRY_ASSIGN(spec.snapshot, once({kind("source"), *directory, ""}, [&] {
                   return capture_source(context_, connection_, *directory, was_named, how_);
                 }));
    }
    if (build) {
      TRY_ASSIGN(build_of(*spec.environment).context, once({"build", build->path, ""}, [&] {
                   return capture_build(context_, connection_, *build);
                 }));
    }
    for (spec::LocalData& local : data) {
      DataInput& input = input_of(spec, local.name);
      if (input.mode == InputMode::direct) continue;
      const std::string place = local.url.empty() ? local.path : local.url;
      TRY_ASSIGN(input.tree,
                 once({kind("data"), place, input.file}, [&] { return fetch(local, input); }));
    }
    return {};
  }
  const std::vector<transfer::Captured>& all() const { return captured_; }

 private:
  using Kind = std::tuple<std::string, std::string, std::string>;

  // The kind of a folder: it gives two different trees with links followed and with links kept.
  std::string kind(const char* what) const {
    return std::string(what) + (how_.links == snapshot::Links::keep ? ", links kept" : "");
  }
  template <typename Capture>
  Result<Digest> once(const Kind& kind, const Capture& capture) {
    if (const auto known = digests_.find(kind); known != digests_.end()) return known->second;
    auto captured = capture();
    if (!captured) return std::move(captured).error();
    captured_.push_back(*std::move(captured));
    const Digest digest = captured_.back().snapshot.root;
    digests_.emplace(kind, digest);
    return digest;
  }
  // Captures the source directory, and adds files that belong into it.
  Result<Digest> compose(const std::optional<std::string>& directory,
                         const std::vector<std::string>& includes) {
    const std::string all = fmt::format("{}", fmt::join(includes, "\n"));
    const Kind key{kind("composed"), directory.value_or(""), all};
    if (const auto known = digests_.find(key); known != digests_.end()) return known->second;
    snapshot::Composition whole;
    if (directory) {
      TRY_ASSIGN(auto code, capture_source(context_, connection_, *directory, true, how_));
      for (const std::string& include : includes)
        if (const std::string name = last_of(include); snapshot::has_entry(code.snapshot, name))
          return make_error(ErrorCode::conflict,
                            fmt::format("additional_includes: {} comes into the code as '{}', and "
                                        "{} has an entry of that name; rename one",
                                        include, name, *directory));
      whole.add(code.snapshot, "");
      captured_.push_back(std::move(code));
    }
    for (const std::string& include : includes) TRY(add_include(include, whole));
    transfer::Captured composed;
    const std::string from = directory && !is_file(*directory) ? *directory : ".";
    TRY_ASSIGN(composed.snapshot, whole.finish(from));
    const Digest digest = composed.snapshot.root;
    captured_.push_back(std::move(composed));
    digests_.emplace(key, digest);
    return digest;
  }
  Status add_include(const std::string& include, snapshot::Composition& whole) {
    const std::string name = last_of(include);
    TRY(check_code_name("additional_includes", name, include));
    const bool is_folder = !is_file(include);
    spec::LocalData file;
    file.path = include;
    TRY_ASSIGN(auto captured, is_folder ? capture_source(context_, connection_, include, true, how_)
                                        : capture_data(context_, connection_, file, name, how_));
    whole.add(captured.snapshot, is_folder ? name : "");
    captured_.push_back(std::move(captured));
    return {};
  }
  static std::string last_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

  Result<transfer::Captured> fetch(spec::LocalData& local, const DataInput& input) {
    TRY(fetch_data(context_, local, input, fetched_));
    return capture_data(context_, connection_, local, input.file, how_);
  }

  Context& context_;
  Connection& connection_;
  const bool quiet_;
  Taking how_;
  std::vector<transfer::Captured> captured_;
  std::map<Kind, Digest> digests_;
  Fetched fetched_;
};

Status capture_steps(Captures& captures, JobSpec& spec, std::vector<StepSubmission>& steps) {
  if (!spec.pipeline) return {};
  PipelineSpec pipeline = *spec.pipeline;
  for (std::size_t i = 0; i < steps.size(); ++i)
    TRY(captures.add(pipeline.steps[i].spec, steps[i].directory, steps[i].directory_was_named,
                     steps[i].includes, steps[i].build, steps[i].data, steps[i].links));
  spec.pipeline = std::move(pipeline);
  return {};
}

}  // namespace

Result<JobId> submit(Context& context, Connection& connection, Submission submission) {
  JobSpec& spec = submission.spec;
  TRY(validate(spec));
  const BeforeRequest before(context.terminal, BeforeRequest::Kind::submission);
  Captures captures(context, connection, submission.quiet);
  TRY(captures.add(spec, submission.directory, submission.directory_was_named, submission.includes,
                   submission.build, submission.data, submission.links));
  TRY(capture_steps(captures, spec, submission.steps));
  const std::string key = fmt::format("{:016x}{:016x}", io::random_u64(), io::random_u64());
  hold_interrupts(true);
  for (int round = 0; round < 3; ++round) {
    TRY_ASSIGN(const SubmitReply reply,
               connection.ask_for<SubmitReply>(
                   Submit{key, spec, submission.rebuild, submission.waits, submission.wait_anyway},
                   kSubmitTimeout));
    if (!reply.snapshot_missing) {
      if (submission.quiet) return reply.job;
      if (!submission.note.empty()) context.terminal.print_line(submission.note);
      for (const std::string& note : reply.notes) context.terminal.print_line(note);
      return reply.job;
    }
    if (captures.all().empty()) break;
    hold_interrupts(false);
    for (const transfer::Captured& one : captures.all())
      TRY(before.explained(upload(context, connection, one)));
    hold_interrupts(true);
  }
  return make_error(ErrorCode::internal,
                    "the launcher still does not have all of the job's files after they were "
                    "uploaded; the launcher's log says why");
}

Status send_build(Context& context, Connection& connection, const spec::BuildFolder& build,
                  EnvironmentSpec& environment) {
  const BeforeRequest before(context.terminal, BeforeRequest::Kind::registration);
  TRY_ASSIGN(const transfer::Captured captured, capture_build(context, connection, build));
  build_of(environment).context = captured.snapshot.root;
  return before.explained(upload(context, connection, captured));
}

Result<snapshot::Snapshot> send_source(Context& context, Connection& connection,
                                       const std::string& folder) {
  TRY_ASSIGN(transfer::Captured captured,
             capture_source(context, connection, folder, true, kToRegister));
  TRY(upload(context, connection, captured));
  return std::move(captured.snapshot);
}

Result<snapshot::Snapshot> send_data(Context& context, Connection& connection,
                                     const std::string& path, const std::string& file) {
  spec::LocalData local;
  local.path = path;
  TRY_ASSIGN(transfer::Captured captured,
             capture_data(context, connection, local, file, kToRegister));
  TRY(upload(context, connection, captured));
  return std::move(captured.snapshot);
}

Status send_files(Context& context, Connection& connection, const spec::LocalData& local,
                  RegisteredAsset& asset) {
  const BeforeRequest before(context.terminal, BeforeRequest::Kind::registration);
  TRY_ASSIGN(const transfer::Captured captured,
             capture_data(context, connection, local, asset.file, kToRegister));
  asset.tree = captured.snapshot.root;
  return before.explained(upload(context, connection, captured));
}

}  // namespace lockstep::cli
