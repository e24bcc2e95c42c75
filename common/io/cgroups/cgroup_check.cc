#include "common/io/cgroups/cgroup_check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "common/io/file_system.h"

namespace lockstep::io {
namespace {

constexpr const char* kTrialLimit = "67108864";  // a multiple of every page size

bool put(const std::string& file, const char* value, std::size_t size) {
  const Fd fd(open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && write(fd.get(), value, size) == static_cast<ssize_t>(size);
}

std::string first_word(const std::string& file) {
  std::istringstream in(read_file(file).value_or(""));
  std::string word;
  in >> word;
  return word;
}

// The kernel rounds limits down to whole pages.
bool holds(const std::string& file, std::uint64_t limit) {
  const std::string word = first_word(file);
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return word == std::to_string(limit) || word == std::to_string(limit / page * page);
}

bool keeps_a_limit(const std::string& base) {
  const std::string trial = fmt::format("{}/lockstep-trial-{}", base, getpid());
  if (mkdir(trial.c_str(), 0755) != 0 && errno != EEXIST) return false;
  const std::string file = trial + "/memory.limit_in_bytes";
  const bool kept = put(file, kTrialLimit, std::string_view(kTrialLimit).size()) &&
                    first_word(file) == kTrialLimit;
  rmdir(trial.c_str());
  return kept;
}

// A process that is in the cgroups of `files` while this object exists.
class Member {
 public:
  explicit Member(const std::vector<std::string>& files) {
    int ready[2], leave[2];
    if (pipe2(ready, O_CLOEXEC) != 0) return;
    const Fd ready_read(ready[0]);
    Fd ready_write(ready[1]);
    if (pipe2(leave, O_CLOEXEC) != 0) return;
    Fd leave_read(leave[0]);
    leave_ = Fd(leave[1]);
    pid_ = fork();
    if (pid_ == 0) join(files, ready_write.get(), leave_read.get(), leave_.get());
    ready_write = Fd();
    leave_read = Fd();
    char joined = 0;
    while (read(ready_read.get(), &joined, 1) < 0 && errno == EINTR) {
    }
    joined_ = joined == 1;
  }
  ~Member() {
    leave_ = Fd();
    if (pid_ <= 0) return;
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  bool joined() const { return joined_; }
  int pid() const { return pid_; }

 private:
  // Runs in the child of a process that may have threads, so it only makes system calls.
  [[noreturn]] static void join(const std::vector<std::string>& files, int ready, int leave,
                                int other_end) {
    close(other_end);
    char joined = 1;
    for (const std::string& file : files) {
      const int fd = open(file.c_str(), O_WRONLY | O_CLOEXEC);
      if (fd < 0 || write(fd, "0", 1) != 1) joined = 0;
      close(fd);
    }
    if (write(ready, &joined, 1) != 1) _exit(1);
    while (read(leave, &joined, 1) < 0 && errno == EINTR) {
    }
    _exit(0);
  }

  Fd leave_;
  pid_t pid_ = -1;
  bool joined_ = false;
};

bool is_member(const std::string& directory, int pid) {
  std::istringstream in(read_file(directory + "/cgroup.procs").value_or(""));
  for (int member = 0; in >> member;)
    if (member == pid) return true;
  return false;
}

}  // namespace

std::string usable_v1(const std::vector<std::string>& candidates, const std::string& controller) {
  for (const std::string& base : candidates) {
    if (access(base.c_str(), W_OK) != 0) continue;
    if (controller != "memory" || candidates.size() == 1 || keeps_a_limit(base)) return base;
  }
  return "";
}

Status check_memory_limit(const std::string& directory, int version, Bytes limit) {
  const std::string file = directory + (version == 2 ? "/memory.max" : "/memory.limit_in_bytes");
  if (holds(file, limit.count)) return {};
  return make_error(ErrorCode::unsupported,
                    fmt::format("the kernel does not keep it: {} is '{}' after {} was written",
                                file, first_word(file), limit.count));
}

Status check_member(const std::vector<std::string>& files, const std::string& member) {
  const Member process(files);
  if (process.joined() && is_member(member, process.pid())) return {};
  return make_error(ErrorCode::unsupported,
                    fmt::format("a process that joins {} is not in it", member));
}

// Paths in /proc begin at the top of the cgroup namespace; ours begin where the hierarchy is
// mounted.
bool is_in_cgroup(int pid, const std::string& controller, const std::string& member) {
  const auto text = read_file(fmt::format("/proc/{}/cgroup", pid));
  if (!text) return true;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    if (names.find("," + controller + ",") == names.npos) continue;
    const std::string path = line.substr(second + 1);
    const auto ours = path.rfind("/lockstep/");
    return ours != path.npos && member.ends_with(path.substr(ours));
  }
  return true;
}

}  // namespace lockstep::io
