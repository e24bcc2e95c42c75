#pragma once
// One host of an ssh target, as `check`, `create`, `list` and `remove` treat it.

#include <string>

#include "launcher/compute/ssh/client.h"
#include "launcher/compute/ssh/scripts.h"

namespace lockstep::compute::ssh {

// The values that are equal for all hosts of a call.
struct Call {
  const Request& request;
  TunnelUse tunnel = TunnelUse::automatic;
  std::string bundle_digest;  // used only for `create`
  std::string share = {};     // from Settings
};

Install install_of(const Call& call, const Host& host);

// A host of a machine. Each step is reported before it begins.
class Machine {
 public:
  template <typename T>
  using Attempt = tl::expected<T, Failed>;

  Machine(const Call& call, const std::string& token, Client& client, Events& events);

  Attempt<void> check();
  Attempt<void> create();
  Attempt<void> list();
  Attempt<void> remove();

 private:
  Attempt<Report> probe(bool dials, const char* step = "connect");
  Attempt<void> judge(const Report& report, bool needs_space);
  Attempt<void> copy();
  Attempt<void> join(const Report& report, bool tunnelled);
  // The way to start the agent. `port`: the tunnel's; 0: none.
  Result<Start> how_to_start(int port) const;
  Attempt<void> start(int port, bool restarts);
  bool is_divided_otherwise(const Report& report) const;
  bool is_connected(const Report& report, bool tunnelled) const;
  bool is_tunnelled(const Report& report);
  bool dials_launcher(const Report& report);
  void tell(const Report& report, bool tunnelled);
  std::string unreadable(const Client::Answer& answer) const;

  const Host& host_;
  const Call& call_;
  std::string token_;
  Client& client_;
  Events& events_;
  Install install_;
};

}  // namespace lockstep::compute::ssh
