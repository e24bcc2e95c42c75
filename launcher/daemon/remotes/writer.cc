#include "launcher/daemon/remotes/writer.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>

#include "common/base/quoted_name.h"
#include "common/io/file_system.h"
#include "common/snapshot/checkout/materialize.h"
#include "common/snapshot/content/stored_size.h"
#include "launcher/daemon/work/principal.h"

namespace lockstep::launcher {
namespace {

// Checks that a path is a file: rclone follows a link that it is given by name, and the link could
// lead to the launcher's files.
Status check_is_file(const std::string& path, const std::string& shown) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) return {};
  return make_error(ErrorCode::invalid_argument, quoted_name(shown) + " is not a regular file");
}

FairWorkers::Limits limits_of_writes() {
  FairWorkers::Limits limits;
  limits.at_once = limits.begun = RemoteWriter::kAtOnce;
  limits.at_once_of_one = RemoteWriter::kAtOnceOfUser;
  return limits;
}

}  // namespace

RemoteWriter::RemoteWriter(io::EventLoop& loop, snapshot::BlobStore& blobs, std::string folder,
                           Duration silence)
    : loop_(loop),
      blobs_(blobs),
      folder_(std::move(folder)),
      silence_(silence),
      writes_({"outputs to write to datastores", kMaxWritesOfUser, kMaxWrites}),
      workers_(limits_of_writes()) {
  (void)io::remove_tree(folder_ + "/writing");
}

RemoteWriter::~RemoteWriter() { stop_ = true; }

void RemoteWriter::write(const WriteOutput& what, const RemoteFiles& to, Then then) {
  if (const Status taken = writes_.take(principal_of_user(what.user)); !taken)
    return loop_.post([then = std::move(then), error = taken.error()] { then(error); });
  auto write = std::make_shared<Write>(Write{what, to, std::move(then), ++last_number_});
  auto& waiting = places_[place_of(to)];
  waiting.push_back(write);
  if (waiting.size() == 1) begin(write);
}

void RemoteWriter::begin(const std::shared_ptr<Write>& write) {
  workers_.run_anyway(principal_of_user(write->what.user),
                      [this, write](const FairWorkers::Pause&) {
                        const Status written = work(write->what, write->to, write->number);
                        loop_.post([this, write, written] { done(*write, written); });
                      });
}

void RemoteWriter::done(const Write& write, const Status& written) {
  writes_.give_back(principal_of_user(write.what.user));
  const auto place = places_.find(place_of(write.to));
  place->second.pop_front();
  if (place->second.empty())
    places_.erase(place);
  else
    begin(place->second.front());
  if (!written)
    spdlog::warn("output '{}' of job {} to {}: {}", write.what.output, write.what.job.value,
                 write.what.to, written.error().message);
  write.then(written);
}

Status RemoteWriter::work(const WriteOutput& what, const RemoteFiles& to, int number) {
  if (stop_) return make_error(ErrorCode::unavailable, "the launcher is ending");
  const std::string below = fmt::format("{}/writing/{}", folder_, number);
  TRY(io::make_directories(below + "/home", 0700));
  const auto write = [&]() -> Status {
    TRY(check_space(what.tree));
    const std::string from = below + "/files";
    snapshot::MaterializeOptions options;
    options.for_all = true;  // this process can read the files, whatever their modes
    TRY(snapshot::materialize(blobs_, what.tree, from, options));
    const bool is_file = !what.file.empty();
    const std::string source = is_file ? from + "/" + what.file : from;
    if (is_file) TRY(check_is_file(source, what.file));
    return write_remote(to, source, is_file, {below + "/home", silence_, &stop_, {}});
  };
  const Status written = write();
  (void)io::remove_tree(below);
  return written;
}

Status RemoteWriter::check_space(const Digest& tree) const {
  TRY_ASSIGN(const Bytes size, snapshot::tree_size(blobs_, tree));
  struct statvfs info {};
  if (::statvfs(folder_.c_str(), &info) != 0) return errno_error(errno, folder_);
  const Bytes free{std::uint64_t{info.f_bavail} * info.f_frsize};
  if (size < free) return {};
  return make_error(ErrorCode::resource_exhausted,
                    fmt::format("it has {}, and the launcher's disk has {} free", to_string(size),
                                to_string(free)));
}

}  // namespace lockstep::launcher
