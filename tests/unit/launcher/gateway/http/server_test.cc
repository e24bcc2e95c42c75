// The server on real sockets of this machine's loopback.

#include "launcher/gateway/http/server/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "common/io/net/framed_socket.h"
#include "common/io/net/tcp_listener.h"
#include "launcher/gateway/http/message/event_stream.h"
#include "launcher/gateway/http/tls/own_certificate.h"
#include "tests/unit/common/io/helpers.h"
#include "tests/unit/launcher/gateway/http/connection_talk.h"
#include "tests/unit/launcher/gateway/http/hostile_requests.h"
#include "tests/unit/launcher/gateway/http/tls_client.h"

namespace lockstep::http {
namespace {

using test::has;
using test::statuses_in;

// A clock that a test can put forward.
class MovedClock final : public io::Clock {
 public:
  Instant now() override { return clock.now() + ahead; }
  io::SystemClock clock;
  Duration ahead{0};
};

// A server whose handler answers by path: /text, /large, /echo, /events, and /later not by itself.
struct Gateway {
  explicit Gateway(Server::Settings settings = {}) {
    server = std::make_unique<Server>(
        loop, clock, settings,
        Server::Ports{[this](const std::shared_ptr<Exchange>& exchange) { handle(exchange); },
                      [this](const AccessRecord& record) { log.push_back(record); }});
    auto listeners = io::listen_tcp("127.0.0.1", 0);
    EXPECT_TRUE(listeners);
    port = io::port_of(listeners->front().get()).value();
    EXPECT_TRUE(server->listen(std::move(listeners->front()), false));
  }
  void serve_tls() {
    const auto own = make_own_certificate({"localhost"}, clock.now(), 1).value();
    server->use_certificate(TlsContext::make(own.certificate, own.key, "test").value());
    auto listeners = io::listen_tcp("127.0.0.1", 0);
    tls_port = io::port_of(listeners->front().get()).value();
    EXPECT_TRUE(server->listen(std::move(listeners->front()), true));
  }
  void handle(const std::shared_ptr<Exchange>& exchange) {
    exchange->on_over([this] { ++over; });
    const std::string& target = exchange->request().target;
    if (target == "/") return collect_body(*exchange, 1'000'000, [exchange](const std::string&) {});
    if (target == "/text") return exchange->answer(text_response(200, "text/plain", "hello"));
    if (target == "/large")
      return exchange->answer(text_response(200, "text/plain", std::string(3'000'000, 'x')));
    if (target == "/echo")
      return collect_body(*exchange, 1'000'000, [exchange](std::string body) {
        exchange->answer(text_response(200, "text/plain", std::move(body)));
      });
    if (target == "/events") {
      streams.push_back(std::make_shared<EventStream>(10'000));
      return exchange->answer(event_response(streams.back()));
    }
    if (target == "/proven") {
      exchange->identified_as("ann");
      return exchange->answer(text_response(200, "text/plain", ""));
    }
    kept.push_back(exchange);
  }
  bool until(const std::function<bool()>& condition) {
    return io::turn_until(loop, [&] {
      server->tick();
      return condition();
    });
  }

  io::EventLoop loop;
  MovedClock clock;
  std::vector<AccessRecord> log;
  std::vector<std::shared_ptr<EventStream>> streams;
  std::vector<std::shared_ptr<Exchange>> kept;
  int over = 0;
  std::uint16_t port = 0, tls_port = 0;
  std::unique_ptr<Server> server;
};

class Browser {
 public:
  explicit Browser(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }
  explicit Browser(io::Fd fd) : fd_(std::move(fd)) {}
  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t done =
          ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (done <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(done));
    }
  }
  // Reads what is there.
  const std::string& received() {
    char buffer[65'536];
    while (!is_closed_) {
      const ssize_t got = ::recv(fd_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
      if (got < 0 && errno == EAGAIN) break;
      if (got <= 0)
        is_closed_ = true;
      else
        received_.append(buffer, static_cast<std::size_t>(got));
    }
    return received_;
  }
  bool is_closed() {
    received();
    return is_closed_;
  }
  void end_writing() { ::shutdown(fd_.get(), SHUT_WR); }
  void close() { fd_.reset(); }

 private:
  io::Fd fd_;
  std::string received_;
  bool is_closed_ = false;
};

std::string get_of(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

TEST(ServerTest, AnswersOverASocket) {
  Gateway gateway;
  Browser browser(gateway.port);
  browser.send(get_of("/text") + get_of("/text?token=secret"));
  EXPECT_TRUE(gateway.until([&] { return statuses_in(browser.received()).size() == 1; }));
  EXPECT_TRUE(gateway.until([&] { return gateway.kept.size() == 1; }));
  gateway.kept[0]->answer(text_response(201, "text/plain", "later"));
  EXPECT_TRUE(gateway.until([&] { return has(browser.received(), "later"); }));
  ASSERT_EQ(gateway.log.size(), 2U);
  EXPECT_EQ(gateway.log[0].address, "127.0.0.1");
  EXPECT_EQ(gateway.log[0].status, 200);
  EXPECT_EQ(gateway.log[0].bytes_out, 5U);
  EXPECT_EQ(gateway.log[1].path, "/text") << "no query in the log";
  EXPECT_EQ(gateway.log[1].request, 2U);
  EXPECT_EQ(gateway.over, 2);
  EXPECT_EQ(gateway.server->connections(), 1U);
}

TEST(ServerTest, LargeAnswersAndBodiesGoThroughInPieces) {
  Gateway gateway;
  Browser browser(gateway.port);
  browser.send(get_of("/large"));
  EXPECT_TRUE(gateway.until([&] { return browser.received().size() > 3'000'000; }));
  Browser writer(gateway.port);
  std::string body(700'000, 'b');
  std::string request = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 700000\r\n\r\n" + body;
  EXPECT_TRUE(gateway.until([&] {
    const std::string piece = request.substr(0, 10'000);
    request.erase(0, piece.size());
    writer.send(piece);
    return has(writer.received(), body);
  }));
  EXPECT_EQ(gateway.log.back().bytes_in, 700'000U);
}

TEST(ServerTest, HostileBytesAreAnsweredAndClosed) {
  Gateway gateway;
  for (const auto& hostile : test::hostile_requests()) {
    Browser browser(gateway.port);
    browser.send(hostile.bytes + test::kHidden);
    browser.end_writing();
    ASSERT_TRUE(gateway.until([&] { return browser.is_closed(); })) << hostile.name;
    EXPECT_EQ(statuses_in(browser.received()),
              std::vector<std::string>{std::to_string(hostile.status)})
        << hostile.name;
  }
  EXPECT_TRUE(gateway.until([&] { return gateway.server->connections() == 0; }));
}

TEST(ServerTest, EventsReachTheirReadersAndSlowOnesWait) {
  Gateway gateway;
  Browser quick(gateway.port), slow(gateway.port);
  quick.send(get_of("/events"));
  EXPECT_TRUE(gateway.until([&] { return gateway.streams.size() == 1; }));
  slow.send(get_of("/events"));
  EXPECT_TRUE(gateway.until([&] { return gateway.streams.size() == 2; }));
  EXPECT_TRUE(gateway.streams[0]->offer({"1", "log", "hello"}));
  EXPECT_TRUE(
      gateway.until([&] { return has(quick.received(), "id: 1\nevent: log\ndata: hello\n\n"); }));
  // Whoever does not read holds no more than its buffers.
  std::size_t offered = 0;
  int turns_without_room = 0;
  const ServerSentEvent event{"", "", std::string(1'000, 'x')};
  EXPECT_TRUE(gateway.until([&] {
    ++turns_without_room;
    while (gateway.streams[1]->offer(event)) {
      offered += 1'000;
      turns_without_room = 0;
    }
    return turns_without_room > 100;
  })) << "its socket is never full";
  EXPECT_GT(offered, 10'000U);
  EXPECT_LE(gateway.streams[1]->waiting_bytes(), 11'000U);
  EXPECT_TRUE(gateway.streams[0]->offer({"2", "", "the other goes on"}));
  EXPECT_TRUE(gateway.until([&] { return has(quick.received(), "the other goes on"); }));
}

TEST(ServerTest, AReaderThatGoesIsNoticed) {
  Gateway gateway;
  Browser browser(gateway.port);
  browser.send(get_of("/events"));
  EXPECT_TRUE(gateway.until([&] { return has(browser.received(), "200 OK"); }));
  browser.close();
  EXPECT_TRUE(gateway.until([&] { return gateway.over == 1; }));
  EXPECT_TRUE(gateway.until([&] { return gateway.server->connections() == 0; }));
  EXPECT_EQ(gateway.log.back().dropped, "the client went");
}

TEST(ServerTest, WhoStandsAboutIsClosedAndOthersAreServed) {
  Gateway gateway;
  std::vector<std::unique_ptr<Browser>> idle;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(std::make_unique<Browser>(gateway.port));
    idle.back()->send("GET / HT");
  }
  EXPECT_TRUE(gateway.until([&] { return gateway.server->connections() == 200; }));
  Browser browser(gateway.port);
  browser.send(get_of("/text"));
  EXPECT_TRUE(gateway.until([&] { return has(browser.received(), "hello"); }));
  gateway.clock.ahead = seconds(11);
  EXPECT_TRUE(gateway.until([&] { return gateway.log.size() == 201; }));
  EXPECT_TRUE(gateway.until([&] { return has(idle[7]->received(), " 408 "); }));
  gateway.clock.ahead = seconds(14);
  EXPECT_TRUE(gateway.until([&] { return gateway.server->connections() == 1; })) << "the browser's";
}

TEST(ServerTest, TooManyConnectionsLoseThoseThatShowedNothing) {
  Server::Settings settings;
  settings.connections = {8, 8, 4, 4};
  Gateway gateway(settings);
  Browser proven(gateway.port);
  proven.send(get_of("/proven"));
  EXPECT_TRUE(gateway.until([&] { return has(proven.received(), "200 OK"); }));
  std::vector<std::unique_ptr<Browser>> flood;
  for (int i = 0; i < 20; ++i) {
    flood.push_back(std::make_unique<Browser>(gateway.port));
    EXPECT_TRUE(
        gateway.until([&] { return gateway.server->connections() == std::min(5, i + 2) + 0U; }));
  }
  EXPECT_TRUE(gateway.until([&] { return flood[0]->is_closed(); })) << "the oldest gave way";
  proven.send(get_of("/text"));
  EXPECT_TRUE(gateway.until([&] { return has(proven.received(), "hello"); }));
}

TEST(ServerTest, DrainsAndThenIsEmpty) {
  Gateway gateway;
  Browser idle(gateway.port), busy(gateway.port), live(gateway.port);
  busy.send(get_of("/later"));
  live.send(get_of("/events"));
  EXPECT_TRUE(gateway.until([&] {
    return gateway.kept.size() == 1 && gateway.streams.size() == 1 &&
           gateway.server->connections() == 3;
  }));
  gateway.server->drain();
  EXPECT_TRUE(gateway.until([&] { return idle.is_closed() && live.is_closed(); }));
  EXPECT_FALSE(busy.is_closed());
  gateway.kept[0]->answer(text_response(200, "text/plain", "done"));
  EXPECT_TRUE(gateway.until([&] { return busy.is_closed(); }));
  EXPECT_TRUE(has(busy.received(), "connection: close\r\n"));
  EXPECT_TRUE(busy.received().ends_with("done"));
  gateway.clock.ahead = seconds(3);
  EXPECT_TRUE(gateway.until([&] { return gateway.server->connections() == 0; }));
}

TEST(ServerTest, ItsEndEndsExchanges) {
  Gateway gateway;
  Browser browser(gateway.port);
  browser.send(get_of("/later"));
  EXPECT_TRUE(gateway.until([&] { return gateway.kept.size() == 1; }));
  gateway.server.reset();
  EXPECT_EQ(gateway.over, 1);
  EXPECT_TRUE(gateway.kept[0]->is_over());
  gateway.kept[0]->answer(text_response(200, "text/plain", "to nobody"));
  gateway.loop.turn(Duration::zero());
  EXPECT_TRUE(browser.is_closed());
}

TEST(ServerTest, ServesAUnixSocket) {
  Gateway gateway;
  const io::TempDir dir;
  auto listener = io::listen_unix(dir.path(), "web.sock");
  ASSERT_TRUE(listener) << listener.error().message;
  ASSERT_TRUE(gateway.server->listen(*std::move(listener), false));
  auto fd = io::connect_unix(dir.path(), "web.sock");
  ASSERT_TRUE(fd) << fd.error().message;
  Browser browser(*std::move(fd));
  browser.send(get_of("/text"));
  EXPECT_TRUE(gateway.until([&] { return has(browser.received(), "hello"); }));
  EXPECT_EQ(gateway.log.back().address, "");
}

// A browser that speaks TLS.
struct TlsBrowser {
  explicit TlsBrowser(std::uint16_t port) : browser(port) {}
  void send(const std::string& bytes) {
    tls.write(bytes);
    move();
  }
  void move() {
    const std::string& all = browser.received();
    tls.received(std::string_view(all).substr(taken));
    taken = all.size();
    browser.send(tls.take_output());
    plain += tls.read();
  }
  Browser browser;
  test::TlsClient tls;
  std::size_t taken = 0;
  std::string plain;
};

TEST(ServerTest, ServesTls) {
  Gateway gateway;
  gateway.serve_tls();
  TlsBrowser browser(gateway.tls_port);
  browser.send(get_of("/text"));
  EXPECT_TRUE(gateway.until([&] {
    browser.move();
    return has(browser.plain, "hello");
  }));
  browser.send(get_of("/large"));
  EXPECT_TRUE(gateway.until([&] {
    browser.move();
    return browser.plain.size() > 3'000'000;
  }));
  EXPECT_EQ(gateway.log.size(), 2U);
}

TEST(ServerTest, ANewCertificateIsForNewConnections) {
  Gateway gateway;
  gateway.serve_tls();
  TlsBrowser before(gateway.tls_port);
  before.send(get_of("/text"));
  EXPECT_TRUE(gateway.until([&] {
    before.move();
    return has(before.plain, "hello");
  }));
  const auto own = make_own_certificate({"localhost"}, gateway.clock.now(), 1).value();
  gateway.server->use_certificate(TlsContext::make(own.certificate, own.key, "test").value());
  TlsBrowser after(gateway.tls_port);
  for (TlsBrowser* browser : {&before, &after}) {
    browser->plain.clear();
    browser->send(get_of("/text"));
    EXPECT_TRUE(gateway.until([&] {
      browser->move();
      return has(browser->plain, "hello");
    }));
  }
}

TEST(ServerTest, PlainHttpOnATlsPortIsClosed) {
  Gateway gateway;
  gateway.serve_tls();
  Browser browser(gateway.tls_port);
  browser.send(get_of("/text"));
  EXPECT_TRUE(gateway.until([&] { return browser.is_closed(); }));
  EXPECT_TRUE(gateway.log.empty());
}

}  // namespace
}  // namespace lockstep::http
