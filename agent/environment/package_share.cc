#include "agent/environment/package_share.h"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/io/beneath.h"
#include "common/io/file_system.h"

namespace lockstep::agent {
namespace {

// The size of a regular file; 0: something else. A user may put anything in its place.
std::uint64_t size_of(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return 0;
  return static_cast<std::uint64_t>(info.st_size);
}

// Removes a fetched file from a folder of the user, who may put a symlink in its place.
void remove_fetched(const std::string& fetched, const std::string& name) {
  const auto slash = fetched.rfind('/');
  const auto scratch = io::Folder::open(fetched.substr(0, slash));
  if (!scratch) return;
  const auto folder = scratch->enter(fetched.substr(slash + 1));
  if (folder) static_cast<void>(folder->remove(name));
}

}  // namespace

ChannelOrigin::~ChannelOrigin() {
  stops_ = true;
  if (tool_.joinable()) tool_.join();
}

void ChannelOrigin::ask(const PackageFile& file) {
  if (is_gone_ || !asked_.try_emplace(file.digest, Asked{file, 0}).second) return;
  const std::string path = site_.wanted + "/" + file.digest.hex();
  if (!io::make_directories(site_.wanted) || !io::write_file_atomically(path, "", 0644, false)) {
    is_gone_ = true;
    return;
  }
  if (tool_.joinable()) return;
  tool_ = std::thread([this] {
    static_cast<void>(site_.run_tool([this] { return !stops_; }));
    has_ended_ = true;
  });
}

bool ChannelOrigin::look(Asked& asked, News& news) {
  const std::string path = site_.fetched + "/" + asked.file.digest.hex();
  const bool is_whole = size_of(path) != 0;
  const std::uint64_t here =
      std::min(is_whole ? asked.file.size : size_of(path + ".part"), asked.file.size);
  if (here > asked.seen) news.bytes += here - std::exchange(asked.seen, here);
  if (!is_whole) return false;
  if (share_.take(path, asked.file)) {
    ++files_;
    bytes_ += asked.file.size;
  } else {
    is_gone_ = true;  // the build reports the fault
  }
  remove_fetched(site_.fetched, asked.file.digest.hex());
  return true;
}

Result<transfer::Origin::News> ChannelOrigin::poll() {
  TRY(site_.go_on());
  News news;
  const bool had_ended = has_ended_;
  for (auto one = asked_.begin(); one != asked_.end();)
    one = look(one->second, news) ? asked_.erase(one) : std::next(one);
  is_gone_ = is_gone_ || had_ended;
  news.is_gone = is_gone_;
  return news;
}

}  // namespace lockstep::agent
