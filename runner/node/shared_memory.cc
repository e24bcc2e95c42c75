#include "runner/node/shared_memory.h"

#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

namespace lockstep::runner {
namespace {

constexpr char kFolder[] = "/dev/shm";
// Clients of NVIDIA's MPS and its daemon share memory there.
constexpr char kMpsFolder[] = "/tmp/nvidia-mps";
constexpr char kMpsVariable[] = "CUDA_MPS_PIPE_DIRECTORY";

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), ::free);
  return real ? real.get() : path;
}

bool is_or_is_below(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

// Whether an MPS server of the account runs. A folder of another account does not count: it must
// not make ranks lose their own /dev/shm.
bool has_mps(const io::User& run_as) {
  struct stat info {};
  return ::lstat(kMpsFolder, &info) == 0 && S_ISDIR(info.st_mode) &&
         (info.st_uid == 0 || info.st_uid == run_as.uid);
}

// Whether an input is in memory, by the text of its path alone: the path may be on a file system
// that never answers.
bool names_memory(const DataInput& input) {
  return is_or_is_below(input.address, kFolder) ||
         (input.place && is_or_is_below(input.place->whole(), kFolder));
}

std::string why_of_node(const Assignment& assignment, const io::AttemptDir& directory,
                        const io::User& run_as) {
  struct stat info {};
  if (::stat(kFolder, &info) != 0 || !S_ISDIR(info.st_mode)) return "there is none";
  if (is_or_is_below(real_path(directory.path()), real_path(kFolder)))
    return "the agent's home is there";
  const JobSpec& spec = assignment.spec;
  if (std::any_of(spec.data.begin(), spec.data.end(), names_memory))
    return "an input of the job is there";
  if (spec.environment_variables.count(kMpsVariable) != 0 || has_mps(run_as))
    return "NVIDIA's MPS needs it";
  return "";
}

}  // namespace

SharedMemory::SharedMemory(const Assignment& assignment, const io::AttemptDir& directory,
                           const io::User& run_as)
    : why_of_node_(runner::why_of_node(assignment, directory, run_as)),
      size_(assignment.allotment.memory) {}

Status SharedMemory::mount() const {
  const std::string options =
      size_.count == 0 ? "mode=1777" : fmt::format("mode=1777,size={}", size_.count);
  if (::mount("lockstep", kFolder, "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0)
    return errno_error(errno, fmt::format("mount a tmpfs on {}", kFolder));
  return {};
}

}  // namespace lockstep::runner
