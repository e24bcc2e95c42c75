#include "launcher/compute/ssh/provider.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <ctime>
#include <thread>

#include "common/base/digest.h"
#include "launcher/compute/ssh/scripts.h"

namespace lockstep::compute::ssh {
namespace {

constexpr int kAtOnce = 16;
constexpr std::int64_t kLeastFreeKib = 400 * 1024;  // the archive unpacked, twice
constexpr std::int64_t kClockTolerance = 30;        // seconds
constexpr Duration kProbeTimeout = seconds(60);
constexpr Duration kCopyTimeout = minutes(15);
constexpr Duration kStartTimeout = seconds(120);

template <typename T>
using Attempt = tl::expected<T, Failed>;

Failed failed(const std::string& step, Failure code, std::string message) {
  return Failed{step, code, std::move(message)};
}

std::int64_t number_of(const Report& report, const char* key) {
  const auto it = report.find(key);
  std::int64_t value = -1;
  if (it == report.end()) return value;
  const char* end = it->second.data() + it->second.size();
  const auto [stop, error] = std::from_chars(it->second.data(), end, value);
  return error == std::errc{} && stop == end ? value : -1;
}
std::string text_of(const Report& report, const char* key) {
  const auto it = report.find(key);
  return it == report.end() ? "" : it->second;
}

Result<std::string> digest_of_file(const std::string& path) {
  const io::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno_error(errno, "open " + path);
  Sha256 hash;
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0) return errno_error(errno, "read " + path);
    if (got == 0) return hash.finish().hex().substr(0, 16);
    hash.update({buffer.data(), static_cast<std::size_t>(got)});
  }
}

// What is done with one host; each step is told before it begins.
class Machine {
 public:
  Machine(const Host& host, const Request& request, const std::string& token,
          std::string bundle_digest, Client client, Events& events)
      : host_(host), request_(request), token_(token), client_(std::move(client)), events_(events) {
    install_.folder = "node-" + request.launcher + "-" + request.target;
    install_.tag = request.launcher + " " + request.target + " " + host.name;
    install_.directory = host.directory;
    install_.name = node_name(host.name);
    install_.bundle = std::move(bundle_digest);
  }

  Attempt<void> check() {
    const auto report = probe();
    if (!report) return tl::unexpected(report.error());
    if (auto good = judge(*report, true); !good) return good;
    tell(*report);
    return {};
  }

  Attempt<void> list() {
    const auto report = probe();
    if (!report) return tl::unexpected(report.error());
    tell(*report);
    return {};
  }

  Attempt<void> create() {
    auto report = probe();
    if (!report) return tl::unexpected(report.error());
    const bool has_bundle = text_of(*report, "bundle") == "bundle-" + install_.bundle;
    if (auto good = judge(*report, !has_bundle); !good) return good;
    if (!has_bundle) {
      if (auto copied = copy(); !copied) return copied;
    }
    const bool stands = has_bundle && report->count("joined") != 0 && report->count("running") != 0;
    if (!stands) {
      if (auto started = start(); !started) return started;
      report = probe();
      if (!report) return tl::unexpected(report.error());
    }
    tell(*report);
    return {};
  }

  Attempt<void> remove() {
    events_.step(host_.name, "remove");
    const auto answer = client_.run("remove", remove_script(install_), kStartTimeout);
    if (!answer) return tl::unexpected(answer.error());
    const Report report = parse_report(answer->text);
    if (const auto foreign = report.find("foreign"); foreign != report.end())
      return tl::unexpected(failed("remove", Failure::conflict,
                                   host_.name + ": " + foreign->second +
                                       " was not created by this launcher, and was not removed"));
    if (report.count("absent") == 0)
      return tl::unexpected(failed("remove", Failure::failed, unreadable(*answer)));
    if (const auto stays = report.find("stays"); stays != report.end())
      return tl::unexpected(
          failed("remove", Failure::failed,
                 fmt::format("{}: {} could not be removed{}", host_.name, stays->second,
                             report.count("left") != 0
                                 ? "; these processes still run: " + report.at("left")
                                 : "")));
    events_.machine(host_.name, "absent", {});
    return {};
  }

 private:
  // A node's name has no ':' (IPv6 addresses do).
  static std::string node_name(std::string name) {
    std::replace(name.begin(), name.end(), ':', '-');
    return name;
  }

  std::string unreadable(const Client::Answer& answer) const {
    std::string last = answer.errors.empty() ? answer.text : answer.errors;
    last.resize(std::min<std::size_t>(last.size(), 300));
    return fmt::format("{}: the shell script stopped before its end: {}", host_.name, last);
  }

  Attempt<Report> probe() {
    events_.step(host_.name, "connect");
    const auto answer = client_.run("connect", probe_script(install_), kProbeTimeout);
    if (!answer) return tl::unexpected(answer.error());
    Report report = parse_report(answer->text);
    if (report.empty())
      return tl::unexpected(failed("connect", Failure::unsupported, unreadable(*answer)));
    return report;
  }

  Attempt<void> judge(const Report& report, bool needs_space) {
    const auto no = [&](Failure code, const std::string& why) {
      return tl::unexpected(failed("check", code, host_.name + ": " + why));
    };
    const std::string system = text_of(report, "system"), cpu = text_of(report, "architecture");
    if (system != "Linux") return no(Failure::unsupported, "it runs " + system + ", not Linux");
    if (cpu != "x86_64")
      return no(Failure::unsupported,
                "its processor is " + cpu + "; the node archive is for x86_64 only");
    if (const std::string missing = text_of(report, "missing"); !missing.empty())
      return no(Failure::unsupported, "it has no " + missing + "; install it on the host");
    const std::string tag = text_of(report, "tag");
    if (!tag.empty() && tag != install_.tag)
      return no(Failure::conflict, text_of(report, "directory") + " is already in use" +
                                       (tag == "-" ? std::string() : " (" + tag + ")"));
    const std::string writable = text_of(report, "writable");
    if (writable != "yes")
      return no(Failure::no_permission,
                "the ssh account cannot write to " +
                    writable.substr(std::min<std::size_t>(3, writable.size())) +
                    "; set `directory` to a folder that this account owns");
    const std::int64_t free = number_of(report, "free_kib");
    if (needs_space && free >= 0 && free < kLeastFreeKib)
      return no(Failure::no_space,
                fmt::format("{} MiB are free for {}, but {} MiB are needed", free / 1024,
                            text_of(report, "directory"), kLeastFreeKib / 1024));
    const std::int64_t clock = number_of(report, "clock");
    const std::int64_t ahead = clock - std::time(nullptr);
    if (clock > 0 && std::abs(ahead) > kClockTolerance)
      events_.warning(host_.name, "check",
                      fmt::format("its clock is {} s {} this machine's", std::abs(ahead),
                                  ahead > 0 ? "ahead of" : "behind"));
    return {};
  }

  Attempt<void> copy() {
    events_.step(host_.name, "copy");
    const io::Fd archive(::open(request_.bundle.c_str(), O_RDONLY | O_CLOEXEC));
    if (!archive)
      return tl::unexpected(failed("copy", Failure::failed, "cannot read " + request_.bundle));
    const auto answer = client_.send("copy", unpack_command(install_), archive.get(), kCopyTimeout);
    if (!answer) return tl::unexpected(answer.error());
    if (answer->exit_code == 0) return {};
    const bool full = answer->errors.find("No space left") != std::string::npos;
    const bool denied = answer->errors.find("Permission denied") != std::string::npos;
    return tl::unexpected(failed("copy",
                                 full     ? Failure::no_space
                                 : denied ? Failure::no_permission
                                          : Failure::unsupported,
                                 unreadable(*answer)));
  }

  Attempt<void> start() {
    events_.step(host_.name, "start");
    const auto answer = client_.run("start", start_script(install_, token_), kStartTimeout);
    if (!answer) return tl::unexpected(answer.error());
    const Report report = parse_report(answer->text);
    if (report.count("joined") != 0) return {};
    if (report.count("why") == 0)
      return tl::unexpected(failed("start", Failure::failed, unreadable(*answer)));
    return tl::unexpected(
        failed("start", Failure::launcher_unreachable,
               host_.name + ": its agent has not joined the launcher: " + report.at("why")));
  }

  void tell(const Report& report) {
    About about;
    for (const char* key :
         {"architecture", "kernel", "directory", "bundle", "clock", "free_kib", "joined"})
      if (const std::string value = text_of(report, key); !value.empty())
        about.emplace_back(key, value);
    const bool installed = text_of(report, "tag") == install_.tag;
    events_.machine(host_.name,
                    !installed                     ? "absent"
                    : report.count("running") != 0 ? "running"
                                                   : "stopped",
                    about);
  }

  const Host& host_;
  const Request& request_;
  std::string token_;
  Client client_;
  Events& events_;
  Install install_;
};

Attempt<void> work_on(Verb verb, Machine& machine) {
  switch (verb) {
    case Verb::check: return machine.check();
    case Verb::create: return machine.create();
    case Verb::list: return machine.list();
    case Verb::remove: return machine.remove();
    case Verb::hold: break;
  }
  return {};
}

struct Task {
  Host host;
  std::string token;
};

// The hosts of the machines that the request names; of all where it names none.
Result<std::vector<Task>> tasks_of(const Request& request) {
  TRY_ASSIGN(const std::vector<Host> hosts, hosts_from(request.settings));
  std::vector<Task> tasks;
  if (request.machines.empty())
    for (const Host& host : hosts) tasks.push_back({host, ""});
  for (const compute::Machine& machine : request.machines) {
    const auto host = std::find_if(hosts.begin(), hosts.end(),
                                   [&](const Host& one) { return one.name == machine.name; });
    if (host == hosts.end())
      return make_error(ErrorCode::invalid_argument,
                        "machine " + machine.name + " is not in settings.hosts");
    tasks.push_back({*host, machine.token});
  }
  return tasks;
}

// A directory of this process for ssh's sockets: short, since their paths hold 107 bytes.
struct SocketsDirectory {
  std::string path;
  SocketsDirectory() = default;
  SocketsDirectory(const SocketsDirectory&) = delete;
  SocketsDirectory& operator=(const SocketsDirectory&) = delete;
  ~SocketsDirectory() {
    if (!path.empty()) (void)io::remove_tree(path);
  }
  Status make() {
    char name[] = "/tmp/lockstep-ssh-XXXXXX";
    if (::mkdtemp(name) == nullptr) return errno_error(errno, "make a directory in /tmp");
    path = name;
    return {};
  }
};

}  // namespace

Result<int> carry_out(Verb verb, const Request& request, const std::string& program,
                      Events& events) {
  if (verb == Verb::hold)
    return make_error(
        ErrorCode::unsupported,
        "kind ssh does not support the verb hold: reverse tunnels are not supported yet");
  TRY_ASSIGN(const std::vector<Task> tasks, tasks_of(request));
  std::string digest;
  if (verb == Verb::create) {
    if (request.bundle.empty())
      return make_error(ErrorCode::invalid_argument,
                        "the request's bundle is missing; scripts/bundle creates a bundle");
    TRY_ASSIGN(digest, digest_of_file(request.bundle));
  }
  TRY(io::make_directories(request.state, 0700));
  SocketsDirectory sockets;
  TRY(sockets.make());
  const ClientFiles files{request.state + "/known_hosts", sockets.path, program};
  std::atomic<std::size_t> next{0};
  std::atomic<int> failures{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      const Task& task = tasks[i];
      auto client = Client::open(task.host, files);
      auto done = Attempt<void>();
      if (client) {
        Machine machine(task.host, request, task.token, digest, std::move(*client), events);
        done = work_on(verb, machine);
      } else {
        done = tl::unexpected(failed("connect", Failure::failed, client.error().message));
      }
      if (done) continue;
      ++failures;
      events.error(task.host.name, done.error());
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min<std::size_t>(tasks.size(), kAtOnce); ++i)
    threads.emplace_back(work);
  work();
  threads.clear();
  return failures.load();
}

}  // namespace lockstep::compute::ssh
