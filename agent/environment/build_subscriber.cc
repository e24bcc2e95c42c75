#include "agent/environment/build_subscriber.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "common/io/disk.h"
#include "common/io/file_system.h"

namespace lockstep::agent {

Assignment BuildSubscriber::wanted() const {
  const std::lock_guard guard(mutex_);
  return wanted_;
}

void BuildSubscriber::want(const Assignment& assignment) {
  const std::lock_guard guard(mutex_);
  wanted_ = assignment;
}

std::optional<EnvironmentReport> BuildSubscriber::solved() const {
  const std::lock_guard guard(mutex_);
  return solved_;
}

void BuildSubscriber::record_solved(const EnvironmentReport& report) {
  const std::lock_guard guard(mutex_);
  solved_ = report;
}

std::optional<EnvironmentReport> BuildSubscriber::not_solved() const {
  const std::lock_guard guard(mutex_);
  return not_solved_;
}

void BuildSubscriber::record_not_solved(const EnvironmentReport& report) {
  const std::lock_guard guard(mutex_);
  not_solved_ = report;
}

std::string BuildSubscriber::log_path() const {
  const std::lock_guard guard(mutex_);
  return directory_.log(wanted_.node_rank, LogStream::environment);
}

void BuildSubscriber::log(std::string_view bytes) {
  const io::Fd fd(io::disk::open(log_path().c_str(),
                                 O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd) static_cast<void>(io::write_all(fd.get(), bytes));
}

void BuildSubscriber::say(const std::string& line) {
  {
    const std::lock_guard guard(mutex_);
    if (line == last_line_) return;
    last_line_ = line;
  }
  log(line + "\n");
}

std::uint64_t BuildSubscriber::log_bytes() const {
  struct stat info {};
  if (::stat(log_path().c_str(), &info) != 0) return 0;
  return static_cast<std::uint64_t>(info.st_size);
}

}  // namespace lockstep::agent
