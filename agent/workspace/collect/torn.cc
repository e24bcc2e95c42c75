#include "agent/workspace/collect/torn.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/workspace/collect/open_below.h"
#include "common/base/digest.h"
#include "common/base/quoted_name.h"
#include "common/snapshot/capture/entry_io.h"
#include "common/snapshot/capture/scan.h"

namespace lockstep::agent {

Result<Look> look_of(io::Fd folder, std::string_view shown_as) {
  snapshot::ScanOptions scanning;
  scanning.is_source = false;
  scanning.is_upper = true;
  TRY_ASSIGN(const snapshot::Scan found,
             snapshot::scan(std::move(folder), std::string(shown_as), scanning));
  Look look;
  Sha256 hash;
  const auto add = [&](const std::string& text) { hash.update(text + '\0'); };
  for (const snapshot::ScannedFolder& inside : found.folders) {
    add(inside.path);
    for (const auto& file : inside.files) {
      add(fmt::format("{} {} {} {} {}", file.name, file.mode, file.identity.inode,
                      file.identity.size, file.identity.mtime_ns));
      look.newest_ns = std::max(look.newest_ns, file.identity.ctime_ns);
      look.files.emplace(inside.path + file.name, file.identity);
    }
    for (const auto& link : inside.links) add(link.name + " -> " + link.target);
    for (const auto& gone : inside.whiteouts) add("gone " + gone);
  }
  look.digest = hash.finish();
  return look;
}

Result<bool> is_torn(const io::Fd& checkpoint, const CheckpointMemory& memory,
                     const std::vector<Instant>& killed) {
  if (killed.empty() || !memory.tree) return false;
  TRY_ASSIGN(const Look look,
             look_of(io::Fd(::openat(checkpoint.get(), ".", kFolderFlags)), kCheckpointFolder));
  for (const auto& [path, identity] : look.files) {
    const auto before = memory.files.find(path);
    if (before == memory.files.end() || before->second == identity) continue;
    const bool is_same_file =
        before->second.device == identity.device && before->second.inode == identity.inode;
    if (!is_same_file || !snapshot::was_cut_off(identity.ctime_ns, killed)) continue;
    const io::Fd file = snapshot::open_entry(checkpoint.get(), path,
                                             O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file && !snapshot::begins_with(file.get(), *memory.tree, path)) return true;
  }
  return false;
}

Result<std::vector<snapshot::TornFile>> torn_files(const Place& place, const OutputFolder& found,
                                                   const Interrupted& at) {
  const bool may_have = place.kind == OutputKind::outputs || place.kind == OutputKind::named ||
                        place.kind == OutputKind::checkpoint;
  if (!may_have || at.killed.empty()) return std::vector<snapshot::TornFile>();
  const snapshot::LiveCapture nothing;
  const snapshot::LiveCapture* known = &nothing;
  bool is_upper = true;
  if (at.so_far != nullptr) {
    const auto memory = at.so_far->places.find({place.kind, place.name});
    if (memory != at.so_far->places.end() && memory->second.folder == found.folder) {
      known = &memory->second.capture;
      is_upper = memory->second.options.is_upper;
    }
  }
  TRY_ASSIGN(auto torn, known->torn(io::Fd(::openat(found.opened.fd.get(), ".", kFolderFlags)),
                                    place.folder, is_upper, at.killed));
  // is_torn() has already checked the files of the last captured checkpoint.
  if (place.kind == OutputKind::checkpoint && at.checkpoint != nullptr)
    std::erase_if(torn, [&](const snapshot::TornFile& file) {
      return at.checkpoint->files.count(file.path) != 0;
    });
  return torn;
}

namespace {

std::string said_of(const snapshot::TornFile& file) {
  if (!file.whole)
    return fmt::format("{} was being written when a rank was killed, and may be unfinished",
                       quoted_name(file.path));
  return fmt::format(
      "{} was being rewritten when its rank was killed: its last complete version "
      "is kept, and the unfinished one beside it, marked as partial",
      quoted_name(file.path));
}

}  // namespace

void list_torn(const std::vector<snapshot::TornFile>& torn, CollectedOutput& out) {
  for (const snapshot::TornFile& file : torn) {
    if (file.whole) {
      ++out.partial;
      ++out.files;
      out.size.count += file.whole->identity.size;
    }
    if (out.problems.size() < kMaxOutputProblems) out.problems.push_back(said_of(file));
  }
}

}  // namespace lockstep::agent
