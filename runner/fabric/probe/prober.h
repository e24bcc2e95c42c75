#pragma once
// Dials the peers of a node's plan, at all their addresses at once, and reports the results. Which
// of our interfaces leads to an address is the kernel's choice, as it will be for ranks: libraries
// bind to no device, so an interface that the routes do not lead through would be of no use to
// them.
//
// It ends when all is known; or a moment after each peer was reached from one interface of ours, so
// that a network that leads nowhere does not hold up those that work; or after kPathsWithin.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runner/fabric/probe/dialled_line.h"

namespace lockstep::runner {

inline constexpr Duration kPathsWithin = seconds(6);
inline constexpr Duration kStragglers = milliseconds(20);  // and as long again as the others took
// The time for each round of the search for the largest packet, in addition to its round trips.
inline constexpr Duration kRoundWithin = milliseconds(250);
inline constexpr int kTripsOfRound = 5;
inline constexpr int kMostSearches = 8;  // further paths lose packets of an unknown size

struct ProberFacts {
  int node_rank = 0;
  std::string key;
  std::vector<ProbeCandidate> candidates;  // ours
  // All our own addresses, with their interfaces. They are not dialled, because we would reach
  // ourselves.
  std::map<std::string, std::string> addresses;
};

class Prober {
 public:
  using Done = std::function<void(std::vector<PathFinding>)>;
  Prober(io::EventLoop& loop, io::Clock& clock, ProberFacts facts, Done done);
  ~Prober();

  void begin(const std::vector<ProbePeer>& peers);
  Instant next_deadline() const;
  void expire(Instant now);

 private:
  struct Path;
  struct Dialled;
  void dial_all(int peer_index, const ProbePeer& peer);
  void dial_one(int peer_index, const ProbePeer& peer, int candidate, std::uint16_t port);
  void note_source(Path& path, const std::string& address);
  ProbeLine& open(Path& path, int size, const PathLoad& load);
  SocketSet::Ready ready();
  void look_at(Dialled& dialled);
  void ended(Path& path, const ProbeLine& line);
  void known(Path& path);
  void begin_search(Path& path, const ProbeLine& line);
  void send_round(Path& path);
  void end_round(Path& path);
  void test_again(Path& path);
  bool are_all_reached() const;
  bool are_all_reached_from(int source) const;
  void finish_if_known();
  void finish();

  ProberFacts facts_;
  Done done_;
  io::Clock& clock_;
  Instant begun_ = Instant::never(), finish_at_ = Instant::never();
  bool has_waited_for_stragglers_ = false;  // finish_at_ is the time of the stragglers
  int peers_ = 0, searches_ = 0;
  // The number of known paths, now and at the last check whether all nodes are reached.
  std::size_t known_ = 0, judged_ = 0;
  std::vector<std::unique_ptr<Path>> paths_;
  SocketSet sockets_;
  std::vector<std::unique_ptr<Dialled>> dialled_;  // by the id of its socket
};

}  // namespace lockstep::runner
