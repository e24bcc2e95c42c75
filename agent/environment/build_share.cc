#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "agent/environment/build.h"

namespace lockstep::agent {
namespace {

constexpr std::uint64_t kMegabyte = 1'000'000;

// The packages that other nodes may have. Those of unknown size are fetched from their channel
// only.
std::vector<PackageFile> files_of(const envs::Lock& lock) {
  std::vector<PackageFile> files;
  for (const envs::LockedCondaPackage& package : lock.conda)
    if (const auto digest = Digest::from_hex(package.sha256);
        digest && package.size > 0 && !package.url.starts_with("file:"))
      files.push_back({*digest, package.size, false});
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.digest < b.digest; });
  files.erase(std::unique(files.begin(), files.end(),
                          [](const auto& a, const auto& b) { return a.digest == b.digest; }),
              files.end());
  return files;
}

std::string name_of_file(const envs::LockedCondaPackage& package) {
  return fmt::format("{}-{}-{}{}", package.name, package.version, package.build,
                     package.url.ends_with(".conda") ? ".conda" : ".tar.bz2");
}

// Counts whole packages only; parts of others are thrown away.
std::string summary(const Build::Archives& here, std::size_t wanted, std::size_t peers,
                    std::uint64_t of_channel) {
  if (here.count == 0)
    return fmt::format("none of {} packages came from other nodes: the build fetches them", wanted);
  const std::uint64_t of_peers = here.bytes - std::min(here.bytes, of_channel);
  return fmt::format(
      "{} of {} packages are here: {:.1f} MB from {} other nodes, {:.1f} MB from their channel",
      here.count, wanted, static_cast<double>(of_peers) / kMegabyte, of_peers == 0 ? 0 : peers,
      static_cast<double>(of_channel) / kMegabyte);
}

std::string progress_text(const transfer::Progress& now) {
  return fmt::format("building: packages {}/{} MB", now.done_bytes / kMegabyte,
                     (now.total_bytes + kMegabyte - 1) / kMegabyte);
}

// Log lines that one thread adds and another one takes.
class Lines {
 public:
  void add(std::string_view bytes) {
    const std::lock_guard guard(mutex_);
    text_ += bytes;
  }
  std::string take() {
    const std::lock_guard guard(mutex_);
    return std::exchange(text_, {});
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

}  // namespace

// The archives stay while this or another build may need them.
Result<envs::Event> Build::run_with_packages(const std::optional<envs::Lock>& lock,
                                             const EntryLock& held) {
  Result<envs::Event> said = make_error(ErrorCode::conflict, "stopped");
  if (const auto packages = wait_for_lock(entry_.packages_lock(), EntryLock::Kind::shared)) {
    share_packages(*lock, held);
    if (go_on()) said = run_tools(envs::Order::What::build, lock, held);
  }
  EnvironmentCache::drop_archives(entry_);
  return said;
}

// The `files` that the build would fetch from their channel; empty if that is unknown.
std::set<Digest> Build::missing_of(const std::vector<PackageFile>& files, const envs::Lock& lock,
                                   const EntryLock& held) {
  std::set<Digest> wanted;
  const auto said = run_tools(envs::Order::What::missing, lock, held);
  if (!said || !said->missing || said->missing->empty()) return wanted;
  for (const PackageFile& file : files)
    if (std::find(said->missing->begin(), said->missing->end(), file.digest.hex()) !=
        said->missing->end())
      wanted.insert(file.digest);
  return wanted;
}

// Shares packages. A failure here costs only time: the build fetches the missing files, and reports
// the ones that it cannot fetch.
void Build::share_packages(const envs::Lock& lock, const EntryLock& held) {
  const std::vector<PackageFile> files = files_of(lock);
  // All packages come from a channel on this machine, which each node has.
  if (files.empty()) return;
  const std::set<Digest> wanted = missing_of(files, lock, held);
  if (wanted.empty()) return;
  Lines lines;
  auto order = order_for(envs::Order::What::fetch, lock, held);
  if (!order) return;
  order->on_log = [&](std::string_view bytes) { lines.add(bytes); };
  order->on_progress = [](const std::string&) {};
  if (const Status ready = EnvironmentCache::renew_scratch(entry_, target_.user); !ready) return;
  const Status fetched = fetch_packages(lock, files, wanted, *order, [&] { log(lines.take()); });
  log(lines.take());
  EnvironmentCache::drop_scratch(entry_);
  if (!fetched && go_on())
    line("packages were not shared with other nodes: " + fetched.error().message);
}

// Fetches packages from peers and from the channel. `order` makes the tool that fetches from the
// channel.
Status Build::fetch_packages(const envs::Lock& lock, const std::vector<PackageFile>& files,
                             const std::set<Digest>& wanted, envs::EnvironmentOrder& order,
                             const std::function<void()>& log_lines) {
  ChannelOrigin origin({entry_.wanted(), order.order.site.shared.fetched,
                        [&](const std::function<bool()>& go_on) -> Status {
                          order.go_on = go_on;
                          if (const auto ended = envs::run_lockstep_env(order); !ended)
                            return ended.error();
                          return {};
                        },
                        [&]() -> Status {
                          log_lines();
                          share();
                          if (go_on()) return {};
                          return make_error(ErrorCode::conflict, "stopped");
                        }},
                       parts_.locks.share);
  transfer::Progress last;
  TRY(parts_.locks.share.fetch(*target_.lock, files, wanted, origin,
                               [&](const transfer::Progress& now) {
                                 last = now;
                                 show(progress_text(now));
                               }));
  line(summary(write_archives(lock, wanted), wanted.size(), last.peers, origin.bytes()));
  return {};
}

// Writes the packages to where the build looks for them.
Build::Archives Build::write_archives(const envs::Lock& lock, const std::set<Digest>& wanted) {
  Archives written;
  for (const envs::LockedCondaPackage& package : lock.conda) {
    const auto digest = Digest::from_hex(package.sha256);
    if (!digest || wanted.count(*digest) == 0) continue;
    const std::string folder = fmt::format("{}/{}", entry_.archives(), package.sha256);
    const bool is_written =
        io::make_directories(folder, 0711) &&
        parts_.locks.share.write(*digest, fmt::format("{}/{}", folder, name_of_file(package)));
    if (!is_written) continue;
    ++written.count;
    written.bytes += package.size;
  }
  return written;
}

}  // namespace lockstep::agent
