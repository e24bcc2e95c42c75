#include "agent/workspace/room.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/snapshot/content/disk_usage.h"
#include "common/snapshot/content/stored_size.h"

namespace lockstep::agent {
namespace {

Bytes beyond(const io::DiskSpace& disk, Bytes kept) {
  return Bytes{disk.free.count - std::min(disk.free.count, kept.count)};
}

bool copies_share_blocks(const std::string& folder) {
  const io::Fd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return false;
  constexpr int kNameless = O_RDWR | O_TMPFILE | O_CLOEXEC;
  const io::Fd from(io::disk::openat(opened.get(), ".", kNameless, 0600));
  const io::Fd to(io::disk::openat(opened.get(), ".", kNameless, 0600));
  return from && to && io::write_all(from.get(), "x") && io::disk::clone(to.get(), from.get()) == 0;
}

}  // namespace

Bytes Room::total() const {
  const std::uint64_t sum = fetched.count + written.count;
  return Bytes{sum < fetched.count ? UINT64_MAX : sum};
}

Status check_room(const Room& needed, const io::DiskSpace& disk, Bytes kept) {
  const bool is_small = needed.total() <= kept;
  if (needed.total() <= (is_small ? disk.free : beyond(disk, kept))) return {};
  const std::string parts = needed.fetched.count == 0 || needed.written.count == 0
                                ? ""
                                : fmt::format(" ({} to fetch and {} to write out)",
                                              to_string(needed.fetched), to_string(needed.written));
  return make_error(
      is_small ? ErrorCode::resource_exhausted : ErrorCode::unsatisfiable,
      fmt::format(
          "it needs {}{} of this node's disk, where {} of {} are free, and {} must stay free "
          "for the jobs that run (lockstep-agent --low-space); free space there, or use a "
          "node with more disk",
          to_string(needed.total()), parts, to_string(disk.free), to_string(disk.total),
          to_string(kept)));
}

RoomCheck::RoomCheck(std::string cache, snapshot::BlobStore& blobs, BlobCacheLimit& limit,
                     Bytes low)
    : cache_(std::move(cache)),
      blobs_(blobs),
      limit_(limit),
      low_(low),
      shares_blocks_(copies_share_blocks(cache_)) {}

Status RoomCheck::for_tree(const Digest& root, const snapshot::MaterializeOptions& options,
                           Bytes missing) const {
  const snapshot::Owner ours = snapshot::current_owner();
  const bool are_linked =
      options.for_all && options.owner.uid == ours.uid && options.owner.gid == ours.gid;
  const auto written = snapshot::written_size(blobs_, root, are_linked);
  if (!written) return {};  // a damaged blob is noticed and fetched again when it is written out
  return ask({missing, *written});
}

Status RoomCheck::for_tree(const Digest& root, const snapshot::MaterializeOptions& options) const {
  TRY_ASSIGN(const auto wanted, blobs_.missing_blobs_from(root));
  Bytes missing;
  for (const auto& blob : wanted) missing.count += blob.size;
  return for_tree(root, options, missing);
}

Status RoomCheck::for_copy(const std::string& tree) const {
  if (shares_blocks_) return {};
  TRY_ASSIGN(const std::uint64_t bytes, snapshot::disk_usage(tree));
  return ask({{}, Bytes{bytes}});
}

Status RoomCheck::for_copy(Bytes size) const { return ask({{}, size}); }

Status RoomCheck::ask(const Room& needed) const {
  auto disk = io::disk_space(cache_);
  if (!disk) return {};
  const Bytes kept = low_.count != 0 ? low_ : io::default_low_space(disk->total);
  const Bytes free = beyond(*disk, kept);
  if (needed.total() <= free) return {};
  TRY(limit_.free(Bytes{needed.total().count - free.count}));
  disk = io::disk_space(cache_);
  return disk ? check_room(needed, *disk, kept) : Status();
}

}  // namespace lockstep::agent
