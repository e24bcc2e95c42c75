#include "launcher/compute/bundle.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "common/base/digest.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "common/io/programs/run_program.h"

namespace lockstep::compute {
namespace {

constexpr std::size_t kDigits = 16;
constexpr Duration kUnpackTimeout = minutes(5);

constexpr const char* kBootFile = "/unpacked-in-boot";

// Files that were unpacked before a power failure may be empty. Syncing them could take long on a
// busy disk, so a bundle from before the last boot is unpacked again.
bool is_whole(const std::string& place) {
  const auto boot = io::read_file(place + kBootFile, kibibytes(4));
  return boot && *boot == io::current_boot().value;
}

// Moves the archive's one top folder, which becomes the bundle's folder.
Status move_into_place(const std::string& unpacked, const std::string& place) {
  TRY_ASSIGN(const std::vector<std::string> tops, io::list_directory(unpacked));
  if (tops.size() != 1 || !io::exists(unpacked + "/" + tops[0] + "/bin/lockstep-agent"))
    return make_error(ErrorCode::corrupt, "it is not an archive that scripts/bundle made");
  const std::string top = unpacked + "/" + tops[0];
  TRY(io::write_file_atomically(top + kBootFile, io::current_boot().value, 0644, false));
  // A bundle of an earlier boot may be removed, since no program runs from it.
  if (!is_whole(place)) (void)io::remove_tree(place);
  if (io::disk::rename(top.c_str(), place.c_str()) == 0 || is_whole(place)) return {};
  return errno_error(errno, "rename " + top + " to " + place);
}

}  // namespace

Result<std::string> bundle_digest(const std::string& archive) {
  const io::Fd file(::open(archive.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno_error(errno, "open " + archive);
  Sha256 hash;
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0) return errno_error(errno, "read " + archive);
    if (got == 0) return hash.finish().hex().substr(0, kDigits);
    hash.update({buffer.data(), static_cast<std::size_t>(got)});
  }
}

std::string bundle_folder(const std::string& digest) { return "bundle-" + digest; }

Status unpack_bundle(const std::string& archive, const std::string& digest,
                     const std::string& folder) {
  const std::string place = folder + "/" + bundle_folder(digest);
  if (is_whole(place)) return {};
  const std::string scratch = fmt::format("{}/unpack.{}", folder, ::getpid());
  TRY(io::remove_tree(scratch));
  TRY(io::make_directories(scratch, 0755));
  const auto unpacked = io::run_program(
      {"/bin/sh", "-c", "umask 022; exec tar -x -z -f \"$1\" -C \"$2\" --no-same-owner", "sh",
       archive, scratch},
      {.timeout = kUnpackTimeout, .dies_with_us = true});
  Status done = unpacked ? Status() : Status(unpacked.error());
  if (unpacked && unpacked->exit_code != 0)
    done = make_error(unpacked->errors.find("No space left") == std::string::npos
                          ? ErrorCode::corrupt
                          : ErrorCode::resource_exhausted,
                      unpacked->errors.substr(0, 300));
  if (done) done = move_into_place(scratch, place);
  TRY(io::remove_tree(scratch));
  if (done) return {};
  return make_error(done.error().code,
                    fmt::format("cannot unpack {}: {}", archive, done.error().message));
}

}  // namespace lockstep::compute
