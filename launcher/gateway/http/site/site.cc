#include "launcher/gateway/http/site/site.h"

#include <fmt/format.h>

#include <utility>

#include "common/base/match.h"

namespace lockstep::http {
namespace {

Problem refusal(int status, std::string detail) {
  Problem problem;
  problem.status = status;
  problem.detail = std::move(detail);
  return problem;
}

Problem not_identified(std::string detail) {
  Problem problem = refusal(401, std::move(detail));
  problem.headers.add("www-authenticate", "Bearer");
  return problem;
}

Problem try_later(int status, std::string detail) {
  Problem problem = refusal(status, std::move(detail));
  problem.headers.add("retry-after", "1");
  return problem;
}

std::string allow_field(const std::vector<Method>& methods) {
  std::string text;
  for (const Method method : methods) {
    if (!text.empty()) text += ", ";
    text += to_string(method);
  }
  return text;
}

void answer_problem(Exchange& exchange, const Problem& problem) {
  Response response = problem_response(problem);
  // Whoever guesses needs a new connection each time, and those give way first (Admission).
  response.closes = problem.status == 401;
  exchange.answer(std::move(response));
}

}  // namespace

Site::Site(const Settings& settings, io::Clock& clock, Identify identify)
    : hosts_(settings.hosts), clock_(clock), identify_(std::move(identify)), gate_(settings.gate) {}

void Site::add(Method method, std::string_view pattern, Route route) {
  router_.add(method, pattern, std::move(route));
}

// ---- the checks -------------------------------------------------------------------------------

std::optional<Problem> Site::judge(Call& call) const {
  using Check = std::optional<Problem> (Site::*)(Call&) const;
  constexpr Check kChecks[] = {&Site::check_host, &Site::check_target, &Site::check_route,
                               &Site::check_credential, &Site::check_site};
  for (const Check check : kChecks)
    if (auto problem = (this->*check)(call)) return problem;
  return std::nullopt;
}

std::optional<Problem> Site::check_host(Call& call) const {
  if (hosts_.serves(call.exchange->request().host)) return std::nullopt;
  return refusal(421,
                 "this host name is not served here; use localhost, or have the operator name it");
}

std::optional<Problem> Site::check_target(Call& call) const {
  auto target = parse_target(call.exchange->request().target);
  if (!target) return problem_of(target.error());
  call.target = *std::move(target);
  return std::nullopt;
}

std::optional<Problem> Site::check_route(Call& call) const {
  const Method method = call.exchange->request().method;
  auto found = router_.find(method, call.target);
  return std::visit(
      lockstep::Match{[&](Router<Route>::Match& match) -> std::optional<Problem> {
                        call.route = match.route;
                        call.parameters = std::move(match.parameters);
                        return std::nullopt;
                      },
                      [&](Router<Route>::NoSuchPath&) -> std::optional<Problem> {
                        return refusal(404, "there is nothing at this address");
                      },
                      [&](Router<Route>::NoSuchMethod& none) -> std::optional<Problem> {
                        const bool is_question = method == Method::options;
                        Problem problem = refusal(
                            is_question ? 204 : 405,
                            fmt::format("{} is not served at this address", to_string(method)));
                        problem.headers.add("allow", allow_field(none.allowed));
                        return problem;
                      }},
      found);
}

std::optional<Problem> Site::check_credential(Call& call) const {
  auto credential = credential_of(call.exchange->request(), call.exchange->client().is_tls);
  if (const auto* problem = std::get_if<Problem>(&credential)) {
    // A page for anybody is shown to whoever has a damaged cookie: how else would they log in?
    if (call.route->access == Access::anybody) return std::nullopt;
    return *problem;
  }
  call.credential = std::get<Credential>(std::move(credential));
  if (call.route->access == Access::user && call.credential.kind == Credential::Kind::none)
    return not_identified("this needs a token (\"Authorization: Bearer …\"), or a login");
  return std::nullopt;
}

std::optional<Problem> Site::check_site(Call& call) const {
  return why_cross_site(call.exchange->request(), call.credential, call.exchange->client().is_tls);
}

// ---- who asks ---------------------------------------------------------------------------------

void Site::handle(const std::shared_ptr<Exchange>& exchange) {
  const auto call = std::make_shared<Call>();
  call->exchange = exchange;
  if (const auto problem = judge(*call)) {
    if (problem->status != 204) return answer_problem(*exchange, *problem);
    Response response = empty_response(204);
    response.headers = problem->headers;
    return exchange->answer(std::move(response));
  }
  if (call->route->access == Access::anybody) return call->route->handle(call);
  identify(call);
}

void Site::identify(const std::shared_ptr<Call>& call) {
  const auto place = gate_.take_check(call->exchange->client().address);
  if (!place)
    return answer_problem(*call->exchange,
                          try_later(503, "too many requests wait to be let in; try again"));
  identify_(call->credential, call->exchange->client(),
            [this, alive = std::weak_ptr<const bool>(alive_), call,
             place](const Result<std::string>& user) {
              if (!alive.expired()) identified(call, user);
            });
}

void Site::identified(const std::shared_ptr<Call>& call, const Result<std::string>& user) {
  Exchange& exchange = *call->exchange;
  if (exchange.is_over()) return;
  if (!user) {
    const Problem problem = user.error().code == ErrorCode::permission_denied
                                ? not_identified(user.error().message)
                                : problem_of(user.error());
    return answer_problem(exchange, problem);
  }
  call->user = *user;
  exchange.identified_as(*user);
  if (!gate_.take_request(*user, clock_.now()))
    return answer_problem(exchange, try_later(429,
                                              "this user sends more requests than are "
                                              "allowed; wait a second"));
  if (call->route->is_stream) {
    const auto place = gate_.take_stream(*user);
    if (!place)
      return answer_problem(exchange, try_later(429,
                                                "too many live streams are open; close some "
                                                "pages or followers"));
    exchange.on_over([place] {});
  }
  call->route->handle(call);
}

}  // namespace lockstep::http
