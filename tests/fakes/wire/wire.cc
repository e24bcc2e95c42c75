// A network cable with faults, where the kernel has no netem. For each host two TAP devices, one in
// the host's network namespace and one in the switch's; this program carries each Ethernet frame
// from one to the other and may lose, delay (so reorder) or duplicate it, each direction on its
// own.
//
// usage: wire SEED (NAME HOST_NETNS HOST_IF SWITCH_NETNS SWITCH_IF)…
// Prints "ready" when all devices are there. Orders on standard input, one a line:
//   NAME out|in LOSS DUPLICATE DELAY_MS JITTER_MS     (out: from the host; LOSS, DUPLICATE in 0..1)
// Ends with its standard input.

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kFrameBytes = 65536;
constexpr std::size_t kMostHeld = 20'000;  // frames under way; more are lost, as in a full queue
constexpr int kPollMs = 1000;

struct Direction {
  int from = -1, to = -1;
  double loss = 0, duplicate = 0, delay_ms = 0, jitter_ms = 0;
};

struct Cable {
  std::string name;
  Direction out, in;
};

struct Held {
  int to = -1;
  std::string frame;
};

[[noreturn]] void die(const std::string& what) {
  std::perror(("wire: " + what).c_str());
  std::exit(1);
}

double now_ms() {
  timespec ts{};
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return static_cast<double>(ts.tv_sec) * 1e3 + static_cast<double>(ts.tv_nsec) / 1e6;
}

int make_tap(const std::string& name_space, const std::string& interface) {
  const int space = open(name_space.c_str(), O_RDONLY | O_CLOEXEC);
  if (space < 0 || setns(space, CLONE_NEWNET) != 0) die("enter " + name_space);
  close(space);
  const int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (tap < 0) die("open /dev/net/tun");
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  std::snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface.c_str());
  if (ioctl(tap, TUNSETIFF, &request) != 0) die("make " + interface);
  return tap;
}

class Wire {
 public:
  explicit Wire(unsigned seed) : random_(seed) {}

  void add(char** words) {
    const int host = make_tap(words[1], words[2]);
    const int port = make_tap(words[3], words[4]);
    cables_.push_back({words[0], {host, port}, {port, host}});
  }

  void run() {
    std::vector<pollfd> fds{{STDIN_FILENO, POLLIN, 0}};
    for (const Cable& cable : cables_) {
      fds.push_back({cable.out.from, POLLIN, 0});
      fds.push_back({cable.in.from, POLLIN, 0});
    }
    for (;;) {
      poll(fds.data(), fds.size(), until_next());
      release();
      if (fds[0].revents != 0 && !obey()) return;
      for (Cable& cable : cables_) {
        carry(cable.out);
        carry(cable.in);
      }
    }
  }

 private:
  bool chance(double p) { return p > 0 && std::uniform_real_distribution<>(0, 1)(random_) < p; }

  int until_next() const {
    if (held_.empty()) return kPollMs;
    const double ms = held_.begin()->first - now_ms();
    return ms <= 0 ? 0 : static_cast<int>(ms) + 1;
  }

  void release() {
    const double now = now_ms();
    while (!held_.empty() && held_.begin()->first <= now) {
      put(held_.begin()->second.to, held_.begin()->second.frame);
      held_.erase(held_.begin());
    }
  }

  // A device that is down, or whose queue is full, loses the frame, as real ones do.
  static void put(int to, const std::string& frame) {
    [[maybe_unused]] const auto n = write(to, frame.data(), frame.size());
  }

  void carry(Direction& way) {
    char buffer[kFrameBytes];
    for (;;) {
      const ssize_t length = read(way.from, buffer, sizeof buffer);
      if (length <= 0) return;
      const std::string frame(buffer, static_cast<std::size_t>(length));
      for (int copies = chance(way.duplicate) ? 2 : 1; copies > 0; --copies) {
        if (chance(way.loss) || held_.size() >= kMostHeld) continue;
        if (way.delay_ms <= 0 && way.jitter_ms <= 0) {
          put(way.to, frame);
          continue;
        }
        const double jitter = std::uniform_real_distribution<>(0, 1)(random_) * way.jitter_ms;
        held_.emplace(now_ms() + way.delay_ms + jitter, Held{way.to, frame});
      }
    }
  }

  // False at the end of standard input.
  bool obey() {
    char buffer[4096];
    const ssize_t length = read(STDIN_FILENO, buffer, sizeof buffer);
    if (length <= 0) return false;
    orders_.append(buffer, static_cast<std::size_t>(length));
    for (std::size_t end; (end = orders_.find('\n')) != std::string::npos;) {
      std::istringstream line(orders_.substr(0, end));
      orders_.erase(0, end + 1);
      std::string name, direction;
      Direction order;
      line >> name >> direction >> order.loss >> order.duplicate >> order.delay_ms >>
          order.jitter_ms;
      for (Cable& cable : cables_) {
        if (cable.name != name) continue;
        Direction& way = direction == "out" ? cable.out : cable.in;
        order.from = way.from;
        order.to = way.to;
        way = order;
      }
    }
    return true;
  }

  std::mt19937 random_;
  std::vector<Cable> cables_;
  std::multimap<double, Held> held_;  // by the moment of arrival
  std::string orders_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7 || (argc - 2) % 5 != 0) {
    std::fprintf(stderr, "usage: wire SEED (NAME HOST_NETNS HOST_IF SWITCH_NETNS SWITCH_IF)...\n");
    return 2;
  }
  Wire wire(static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)));
  for (int i = 2; i < argc; i += 5) wire.add(argv + i);
  std::puts("ready");
  std::fflush(stdout);
  wire.run();
}
