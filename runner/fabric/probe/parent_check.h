#pragma once
// While a runner's gang does not come together: why this node cannot reach its parent in the gang's
// tree. It dials the parent's port as the gang's link does, and only looks whether the connection
// is made.

#include <functional>
#include <optional>
#include <string>

#include "common/domain/runners/assignment.h"
#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "runner/fabric/probe/probe_sockets.h"

namespace lockstep::runner {

inline constexpr Duration kFirstParentCheck = seconds(3);  // gangs are together long before
inline constexpr Duration kParentCheckEvery = seconds(5);
inline constexpr Duration kParentCheckWithin = milliseconds(3'500);  // see kDialWithin

class ParentCheck {
 public:
  // Called at each change, with why the connection fails, or nullopt: it is made. Not called for a
  // parent whose address is a name.
  using Found = std::function<void(std::optional<PathFailure>)>;
  ParentCheck(io::EventLoop& loop, io::Clock& clock, int self, int parent, const GangMember& member,
              Found found);

  Instant next_deadline() const { return next_; }
  void expire(Instant now);

 private:
  void dial_parent(Instant now);
  void look(std::uint32_t events);
  void end(std::optional<PathTrouble> trouble);

  PathFailure path_;
  std::optional<sockaddr_in> to_;
  Found found_;
  io::Clock& clock_;
  Instant next_;
  io::Fd fd_;  // open while it dials
  std::optional<PathFailure> told_;
  SocketSet sockets_;
};

}  // namespace lockstep::runner
