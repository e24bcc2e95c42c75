#include "runner/fabric/rdma/transport_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "common/domain/why/all/convert.h"
#include "common/io/beneath.h"
#include "common/io/file_system.h"
#include "runner/usage/process_use.h"

namespace lockstep::runner {
namespace {

// Ranks may create a communicator minutes after the start, when their data is loaded.
constexpr Duration kLooks[] = {seconds(5), seconds(10), seconds(15), seconds(30), seconds(60)};
constexpr int kMostEntries = 4'096;  // the most entries to read: the ranks can fill the folder
constexpr Bytes kMostOfStat = kibibytes(8);

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using OpenFolder = std::unique_ptr<DIR, CloseFolder>;

OpenFolder listing_of(int folder) {
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return nullptr;
  OpenFolder opened(::fdopendir(copy));
  if (!opened) ::close(copy);
  return opened;
}

// Reads at most `most` bytes from there on.
std::string piece_of(const io::Fd& file, std::size_t from, std::size_t most) {
  std::string text(most, '\0');
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = ::pread(file.get(), text.data() + length, text.size() - length,
                                static_cast<off_t>(from + length));
    if (got <= 0) break;
    length += static_cast<std::size_t>(got);
  }
  text.resize(length);
  return text;
}

// The log's beginning, where NCCL chooses a network, and its end, where calls fail, in whole lines.
// Only regular files: reading a pipe with this name would block.
std::optional<std::string> log_text(int folder, const std::string& name) {
  const io::Fd file = io::open_beneath(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  const auto size = static_cast<std::size_t>(info.st_size);
  std::string text = piece_of(file, 0, std::min(size, kMaxNcclLogBytes));
  text.resize(text.rfind('\n') + 1);  // npos + 1 is 0
  if (size <= kMaxNcclLogBytes) return text;
  const std::size_t rest = std::min(size - kMaxNcclLogBytes, kMaxNcclLogEndBytes);
  const std::string end = piece_of(file, size - rest, rest);
  const std::size_t first = end.find('\n'), last = end.rfind('\n');
  if (first != last) text += end.substr(first + 1, last - first);
  return text;
}

bool is_number(const char* name) {
  return *name != '\0' && std::all_of(name, name + std::string_view(name).size(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

// All processes of the machine: their parents show which ones are the ranks'.
std::vector<ProcessUse> processes_in(const std::string& proc) {
  std::vector<ProcessUse> all;
  const OpenFolder folder(::opendir(proc.c_str()));
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    if (!is_number(entry->d_name)) continue;
    const auto text = io::read_file(fmt::format("{}/{}/stat", proc, entry->d_name), kMostOfStat);
    if (const auto process = text ? parse_stat(*text) : std::nullopt) all.push_back(*process);
  }
  return all;
}

// Whether the process holds an RDMA device. Subtracts the number of files that it looks at from
// `most`.
// `unseen`: not permitted; `too_many`: more files than `most`.
enum class Holds { yes, no, unseen, too_many };
Holds holds_device(const std::string& proc, int pid, int& most) {
  const OpenFolder folder(::opendir(fmt::format("{}/{}/fd", proc, pid).c_str()));
  if (!folder) return Holds::unseen;
  constexpr std::string_view kDevice = "/dev/infiniband/uverbs";
  for (; most > 0; --most) {
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) return Holds::no;
    char target[64] = {};
    const ssize_t length =
        ::readlinkat(::dirfd(folder.get()), entry->d_name, target, sizeof target);
    if (length > 0 &&
        std::string_view(target, static_cast<std::size_t>(length)).starts_with(kDevice))
      return Holds::yes;
  }
  return Holds::too_many;
}

}  // namespace

TransportWatch::TransportWatch(Where where, TransportFacts facts, Instant now)
    : where_(std::move(where)),
      facts_(std::move(facts)),
      before_(read_port_traffic(where_.sys)),
      next_(now + kLooks[0]) {}

std::vector<NcclLog> TransportWatch::read_logs() const {
  std::vector<NcclLog> logs;
  if (where_.log_folder.empty()) return logs;
  const auto opened = io::Folder::open(where_.log_folder);
  if (!opened) return logs;
  const OpenFolder folder = listing_of(opened->fd());
  for (int seen = 0; folder && seen < kMostEntries && logs.size() < kMaxNcclLogs; ++seen) {
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) break;
    if (!std::string_view(entry->d_name).starts_with(kNcclLogLead)) continue;
    if (const auto text = log_text(opened->fd(), entry->d_name))
      logs.push_back(read_nccl_log(*text));
  }
  return logs;
}

void TransportWatch::look_at_processes(int spawn_pid, TransportCounts& counts) const {
  if (spawn_pid <= 0) return;
  std::vector<int> pids = tree_of(processes_in(where_.proc), spawn_pid);
  bool is_cut = pids.size() > kMaxLookedAtProcesses;
  if (is_cut) pids.resize(kMaxLookedAtProcesses);
  int most = where_.most_files;
  for (const int pid : pids) {
    const Holds holds = holds_device(where_.proc, pid, most);
    is_cut = is_cut || holds == Holds::too_many;
    if (holds != Holds::unseen) counts.device_known = true;
    if (holds != Holds::yes) continue;
    counts.device_open = true;
    return;
  }
  if (is_cut) counts.device_known = false;  // a process that was not looked at may hold it
}

TransportFinding TransportWatch::look(Instant now, const Look& look) {
  looks_ = std::min(looks_ + 1, std::size(kLooks) - 1);
  next_ = now + kLooks[looks_];
  TransportCounts counts;
  counts.tcp_bytes = look.tcp_bytes;
  counts.in_mpi = look.in_mpi;
  const TrafficSince traffic = traffic_since(before_, read_port_traffic(where_.sys));
  counts.ports_count = traffic.counts;
  counts.rdma_bytes = traffic.bytes;
  look_at_processes(look.spawn_pid, counts);
  TransportFinding finding = judge_transport(read_logs(), counts, facts_);
  if (finding.transport == Transport::rdma && !finding.has_failed) next_ = Instant::never();
  return finding;
}

}  // namespace lockstep::runner
