#pragma once
// Dials the peers of a node's plan, at all their addresses at once, and tells what it met. Which of
// our interfaces leads to an address is the kernel's choice, as it will be for ranks: libraries
// bind to no device, so an interface that the routes do not lead through would be of no use to
// them.
//
// It ends when all is known; or a moment after each peer was reached from one interface of ours, so
// that a network that leads nowhere does not hold up those that work; or after kProbeWithin.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/io/clock.h"
#include "runner/probe/packet_search.h"
#include "runner/probe/path_test.h"
#include "runner/probe/sockets.h"

namespace lockstep::runner {

inline constexpr Duration kPathsWithin = seconds(6);
inline constexpr Duration kStragglers = milliseconds(20);   // and as long again as the others took
inline constexpr Duration kEchoWithin = milliseconds(200);  // answers to one round of packets

struct ProberFacts {
  int node_rank = 0;
  std::string key;
  std::vector<ProbeCandidate> candidates;  // ours
  // All addresses of ours, with their interfaces: dialling one would meet ourselves.
  std::map<std::string, std::string> addresses;
};

class Prober {
 public:
  using Done = std::function<void(std::vector<PathFinding>)>;
  Prober(io::EventLoop& loop, ProberFacts facts, Done done);
  ~Prober();

  void begin(const std::vector<ProbePeer>& peers);
  Instant next_deadline() const;
  void expire(Instant now);

 private:
  struct Path;
  void dial_all(int peer_index, const ProbePeer& peer);
  void dial_one(int peer_index, const ProbePeer& peer, int candidate, std::uint16_t port);
  void note_source(Path& path, const std::string& address);
  SocketSet::Ready ready();
  void look(Path& path, std::uint32_t events);
  void move(Path& path);
  void receive(Path& path);
  void ended(Path& path);
  void known(Path& path);
  void search(Path& path);
  void send_round(Path& path);
  void hear_echoes(Path& path);
  void end_search(Path& path);
  bool are_all_reached() const;
  bool are_all_reached_from(int source) const;
  void finish_if_known();
  void finish();

  ProberFacts facts_;
  Done done_;
  io::SystemClock clock_;
  Instant begun_ = Instant::never(), finish_at_ = Instant::never();
  bool has_waited_for_stragglers_ = false;  // finish_at_ is theirs
  int peers_ = 0;
  std::size_t known_ = 0, judged_ = 0;  // paths; at the last look whether all are reached
  std::vector<std::unique_ptr<Path>> paths_;
  SocketSet sockets_;
};

}  // namespace lockstep::runner
