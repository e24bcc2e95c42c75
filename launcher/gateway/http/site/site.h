#pragma once
// What stands between the server and the handlers: one visible list of checks that each request
// passes in the same order (whose host, which path, which route, whose credential, which site),
// then the launcher's word on who asks, then the limits of that user. It decides nothing about
// permissions.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/io/clock.h"
#include "launcher/gateway/http/message/exchange.h"
#include "launcher/gateway/http/message/host.h"
#include "launcher/gateway/http/message/problem.h"
#include "launcher/gateway/http/message/target.h"
#include "launcher/gateway/http/site/credential.h"
#include "launcher/gateway/http/site/gate.h"
#include "launcher/gateway/http/site/router.h"

namespace lockstep::http {

class Site {
 public:
  struct Call;
  using Handler = std::function<void(const std::shared_ptr<Call>&)>;
  enum class Access { user, anybody };
  struct Route {
    Handler handle;
    Access access = Access::user;
    bool is_stream = false;  // its answer has no end (events): such answers are counted
  };
  // A request that has passed, as handlers have it.
  struct Call {
    std::shared_ptr<Exchange> exchange;
    Target target;
    Parameters parameters;
    Credential credential;
    const Route* route = nullptr;
    std::string user;  // "" where anybody may ask
  };

  struct Settings {
    HostPolicy hosts = HostPolicy();
    Gate::Settings gate = {};
  };
  // Asks the launcher whose credential this is, and calls `then` on the loop. permission_denied:
  // nobody's, or it has expired.
  using Identify = std::function<void(const Credential& credential, const Client& client,
                                      std::function<void(Result<std::string> user)> then)>;
  Site(const Settings& settings, io::Clock& clock, Identify identify);

  // Before the first request.
  void add(Method method, std::string_view pattern, Route route);
  void handle(const std::shared_ptr<Exchange>& exchange);

 private:
  std::optional<Problem> check_host(Call& call) const;
  std::optional<Problem> check_target(Call& call) const;
  std::optional<Problem> check_route(Call& call) const;
  std::optional<Problem> check_credential(Call& call) const;
  std::optional<Problem> check_site(Call& call) const;
  std::optional<Problem> judge(Call& call) const;
  void identify(const std::shared_ptr<Call>& call);
  void identified(const std::shared_ptr<Call>& call, const Result<std::string>& user);

  const HostPolicy hosts_;
  io::Clock& clock_;
  const Identify identify_;
  Gate gate_;
  Router<Route> router_;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace lockstep::http
