// Who gets to a handler: every check, its order, and that nothing of a refused request runs.

#include "launcher/gateway/http/site/site.h"

#include <gtest/gtest.h>

namespace lockstep::http {
namespace {

class StillClock final : public io::Clock {
 public:
  Instant now() override { return time; }
  Instant time{1'700'000'000'000'000'000};
};

class FakeExchange final : public Exchange {
 public:
  const Request& request() const override { return asked; }
  const Client& client() const override { return sender; }
  void take_body(std::uint64_t, std::shared_ptr<BodySink>) override { ++bodies_taken; }
  void resume_body() override {}
  void answer(Response response) override {
    if (!over) answers.push_back(std::move(response));
  }
  void identified_as(const std::string& name) override { user = name; }
  void on_over(std::function<void()> handler) override { handlers.push_back(std::move(handler)); }
  bool is_over() const override { return over; }
  void end() {
    over = true;
    for (const auto& handler : std::exchange(handlers, {})) handler();
  }

  Request asked;
  Client sender{"10.0.0.1", false, 1, 1};
  std::vector<Response> answers;
  std::vector<std::function<void()>> handlers;
  std::string user;
  int bodies_taken = 0;
  bool over = false;
};

struct World {
  explicit World(const Gate::Settings& gate = {}) : site(settings(gate), clock, identify()) {
    const auto route = [this](const std::string& name) {
      return [this, name](const std::shared_ptr<Site::Call>& call) {
        handled.push_back(name + " for " + call->user);
        last = call;
      };
    };
    site.add(Method::get, "/login", {route("login"), Site::Access::anybody});
    site.add(Method::post, "/login", {route("log in"), Site::Access::anybody});
    site.add(Method::get, "/jobs", {route("list")});
    site.add(Method::post, "/jobs", {route("create")});
    site.add(Method::get, "/jobs/{job:name}", {route("show")});
    site.add(Method::get, "/events", {route("events"), Site::Access::user, true});
  }
  static Site::Settings settings(const Gate::Settings& gate) { return {HostPolicy(), gate}; }
  Site::Identify identify() {
    return [this](const Credential& credential, const Client&,
                  std::function<void(Result<std::string>)> then) {
      asked_of_launcher.push_back(credential);
      if (is_launcher_slow)
        waiting.push_back(std::move(then));
      else
        then(user_of(credential));
    };
  }
  static Result<std::string> user_of(const Credential& credential) {
    if (credential.secret == "launcher-is-away")
      return make_error(ErrorCode::unavailable, "the launcher is restarting");
    if (!credential.secret.starts_with("ann") && !credential.secret.starts_with("bob"))
      return make_error(ErrorCode::permission_denied, "the token is nobody's, or has expired");
    return credential.secret.substr(0, 3);
  }

  using Fields = std::vector<std::pair<std::string, std::string>>;
  std::shared_ptr<FakeExchange> ask(Method method, const std::string& target,
                                    const Fields& fields = {},
                                    const std::string& host = "localhost:80") {
    const auto exchange = std::make_shared<FakeExchange>();
    exchange->asked.method = method;
    exchange->asked.target = target;
    exchange->asked.host = host;
    for (const auto& [name, value] : fields) exchange->asked.headers.add(name, value);
    site.handle(exchange);
    return exchange;
  }
  // 0: it was handed to a handler, or waits.
  int status(Method method, const std::string& target, const Fields& fields = {},
             const std::string& host = "localhost:80") {
    const auto exchange = ask(method, target, fields, host);
    return exchange->answers.empty() ? 0 : exchange->answers[0].status;
  }

  StillClock clock;
  bool is_launcher_slow = false;
  std::vector<Credential> asked_of_launcher;
  std::vector<std::function<void(Result<std::string>)>> waiting;
  std::vector<std::string> handled;
  std::shared_ptr<Site::Call> last;
  Site site;
};

const World::Fields kAnn = {{"authorization", "Bearer ann-token"}};

TEST(SiteTest, WhoIsKnownGetsToTheHandler) {
  World world;
  EXPECT_EQ(world.status(Method::get, "/jobs", kAnn), 0);
  EXPECT_EQ(world.handled, std::vector<std::string>{"list for ann"});
  EXPECT_EQ(world.status(Method::get, "/jobs/x?a=1", kAnn), 0);
  ASSERT_NE(world.last, nullptr);
  EXPECT_EQ(world.last->parameters.text("job"), "x");
  EXPECT_EQ(world.last->target.query.one("a").value(), "1");
  EXPECT_EQ(world.last->credential.secret, "ann-token") << "it goes on to the launcher";
  const auto exchange = world.ask(Method::head, "/jobs", kAnn);
  EXPECT_EQ(exchange->user, "ann");
  EXPECT_EQ(exchange->bodies_taken, 0) << "a handler takes the body, or nobody";
}

TEST(SiteTest, EachCheckRefuses) {
  struct Row {
    Method method;
    std::string target;
    World::Fields fields;
    std::string host;
    int status;
  };
  const World::Fields cookie = {{"cookie", "lockstep=ann-session"}};
  const auto with = [](World::Fields fields, const std::string& name, const std::string& value) {
    fields.emplace_back(name, value);
    return fields;
  };
  const std::string token = csrf_token("ann-session");
  const std::vector<Row> rows = {
      {Method::get, "/jobs", kAnn, "evil.org", 421},
      {Method::get, "/login", {}, "evil.org", 421},
      {Method::get, "/nothing", kAnn, "evil.org", 421},
      {Method::get, "/a/../jobs", kAnn, "localhost", 400},
      {Method::get, "/%00", {}, "localhost", 400},
      {Method::get, "/nothing", {}, "localhost", 404},
      {Method::get, "/jobs/", kAnn, "localhost", 404},
      {Method::put, "/jobs", kAnn, "localhost", 405},
      {Method::remove, "/login", {}, "localhost", 405},
      {Method::options, "/jobs", {}, "localhost", 204},
      {Method::get, "/jobs", {}, "localhost", 401},
      {Method::post, "/jobs", {}, "localhost", 401},
      {Method::get, "/jobs", {{"authorization", "Basic YTpi"}}, "localhost", 401},
      {Method::get, "/jobs", {{"authorization", "Bearer eve"}}, "localhost", 401},
      {Method::get, "/jobs", {{"cookie", "lockstep=eve"}}, "localhost", 401},
      {Method::get, "/jobs", {{"cookie", "lockstep=ann; lockstep=eve"}}, "localhost", 401},
      {Method::get, "/jobs", {{"authorization", "Bearer launcher-is-away"}}, "localhost", 503},
      {Method::get, "/jobs", with(cookie, "sec-fetch-site", "same-site"), "localhost", 403},
      {Method::get, "/jobs", with(cookie, "origin", "http://x.localhost"), "localhost", 403},
      {Method::post, "/jobs", cookie, "localhost", 403},
      {Method::post, "/jobs", with(cookie, "x-lockstep-csrf", csrf_token("bob")), "localhost", 403},
      {Method::post, "/login", {{"origin", "http://evil.org"}}, "localhost", 403},
  };
  for (const Row& row : rows) {
    World world;
    EXPECT_EQ(world.status(row.method, row.target, row.fields, row.host), row.status)
        << to_string(row.method) << " " << row.target << " at " << row.host;
    EXPECT_TRUE(world.handled.empty()) << row.target;
  }
  World world;
  EXPECT_EQ(world.status(Method::get, "/jobs", cookie), 0);
  EXPECT_EQ(world.status(Method::post, "/jobs", with(cookie, "x-lockstep-csrf", token)), 0);
  EXPECT_EQ(world.handled.size(), 2U);
}

TEST(SiteTest, TheLauncherIsAskedOnlyForWhatPassed) {
  World world;
  world.ask(Method::get, "/nothing", kAnn);
  world.ask(Method::get, "/jobs", kAnn, "evil.org");
  world.ask(Method::get, "/jobs");
  world.ask(Method::post, "/jobs", {{"cookie", "lockstep=ann"}});
  world.ask(Method::get, "/login", kAnn);
  EXPECT_TRUE(world.asked_of_launcher.empty());
  EXPECT_EQ(world.handled, std::vector<std::string>{"login for "});
}

TEST(SiteTest, ADamagedCookieDoesNotBarTheLogin) {
  World world;
  EXPECT_EQ(world.status(Method::get, "/login", {{"cookie", "lockstep=a; lockstep=b"}}), 0);
}

TEST(SiteTest, AnswersSayWhatToDo) {
  World world;
  const auto unknown = world.ask(Method::get, "/jobs");
  EXPECT_EQ(unknown->answers.at(0).headers.get("www-authenticate"), "Bearer");
  EXPECT_TRUE(unknown->answers.at(0).closes) << "who guesses needs a new connection each time";
  const auto method = world.ask(Method::put, "/jobs", kAnn);
  EXPECT_EQ(method->answers.at(0).headers.get("allow"), "GET, HEAD, POST, OPTIONS");
  const auto question = world.ask(Method::options, "/jobs");
  EXPECT_EQ(question->answers.at(0).headers.get("allow"), "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(question->answers.at(0).headers.find("access-control-allow-origin"), nullptr);
}

TEST(SiteTest, AnAnswerOfTheLauncherMayComeLater) {
  World world;
  world.is_launcher_slow = true;
  const auto here = world.ask(Method::get, "/jobs", kAnn);
  const auto gone = world.ask(Method::get, "/jobs", kAnn);
  ASSERT_EQ(world.waiting.size(), 2U);
  EXPECT_TRUE(world.handled.empty());
  gone->end();
  for (const auto& then : std::exchange(world.waiting, {})) then(std::string("ann"));
  EXPECT_EQ(world.handled.size(), 1U) << "nobody waits for the other";
}

TEST(SiteTest, ChecksThatWaitAreBounded) {
  Gate::Settings gate;
  gate.checks_of_address = 2;
  World world(gate);
  world.is_launcher_slow = true;
  world.ask(Method::get, "/jobs", kAnn);
  world.ask(Method::get, "/jobs", kAnn);
  EXPECT_EQ(world.status(Method::get, "/jobs", kAnn), 503);
  for (const auto& then : std::exchange(world.waiting, {})) then(std::string("ann"));
  EXPECT_EQ(world.status(Method::get, "/jobs", kAnn), 0);
}

TEST(SiteTest, AUserHasSoManyRequestsAndStreams) {
  Gate::Settings gate;
  gate.requests_of_user = {5, 1};
  gate.streams_of_user = 2;
  World world(gate);
  const auto first = world.ask(Method::get, "/events", kAnn);
  const auto second = world.ask(Method::get, "/events", kAnn);
  EXPECT_EQ(world.status(Method::get, "/events", kAnn), 429);
  first->end();
  EXPECT_EQ(world.status(Method::get, "/events", kAnn), 0) << "the place is free again";
  EXPECT_EQ(world.status(Method::get, "/jobs", kAnn), 0);
  EXPECT_EQ(world.status(Method::get, "/jobs", kAnn), 429);
  EXPECT_EQ(world.status(Method::get, "/jobs", {{"authorization", "Bearer bob"}}), 0);
  world.clock.time = world.clock.time + seconds(1);
  EXPECT_EQ(world.status(Method::get, "/jobs", kAnn), 0);
}

}  // namespace
}  // namespace lockstep::http
