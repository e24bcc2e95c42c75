#include "launcher/compute/contract.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace lockstep::compute {
namespace {

using nlohmann::json;

json good() {
  return {{"contract", 1},
          {"launcher", "a1b2"},
          {"target", "vms"},
          {"state", "/var/lib/x"},
          {"settings", {{"hosts", json::array()}}},
          {"machines", {{{"name", "vm1"}, {"token", "secret"}}}}};
}

TEST(Contract, ARequestIsRead) {
  const auto request = request_from(good().dump(), Verb::create);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->launcher, "a1b2");
  EXPECT_EQ(request->target, "vms");
  EXPECT_EQ(request->settings, R"({"hosts":[]})");
  ASSERT_EQ(request->machines.size(), 1u);
  EXPECT_EQ(request->machines[0].name, "vm1");
  EXPECT_EQ(request->machines[0].token, "secret");
}

json endpoints(const char* host) {
  const std::string at = std::string("tcp://") + host;
  return {{"control", at + ":7070"}, {"bulk", at + ":7071"}, {"join", at + ":7072"}};
}

TEST(Contract, EndpointsAreThoseOfTheLaunchersEndpointFile) {
  json text = good();
  EXPECT_FALSE(request_from(text.dump(), Verb::create)->endpoints);
  text["endpoints"] = endpoints("head");
  const auto one = request_from(text.dump(), Verb::create);
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->endpoints->bulk, (Address{"head", 7071}));
  EXPECT_EQ(one->local, one->endpoints);
  text["endpoints"]["local"] = endpoints("127.0.0.1");
  const auto two = request_from(text.dump(), Verb::create);
  ASSERT_TRUE(two) << two.error().message;
  EXPECT_EQ(two->endpoints->control.host, "head");
  EXPECT_EQ(two->local->join, (Address{"127.0.0.1", 7072}));
  text["endpoints"].erase("join");
  EXPECT_FALSE(request_from(text.dump(), Verb::create));
  text["endpoints"] = endpoints("a b");
  EXPECT_FALSE(request_from(text.dump(), Verb::create));
  text["endpoints"] = "tcp://head:7070";
  EXPECT_FALSE(request_from(text.dump(), Verb::create));
}

TEST(Contract, AnAddressIsReadAndWritten) {
  for (const char* text : {"tcp://head:1", "tcp://10.0.0.1:65535", "tcp://[fe80::1]:7070"})
    EXPECT_EQ(to_endpoint(*address_from(text)), text);
  for (const char* text :
       {"", "head:1", "tcp://", "tcp://head", "tcp://:1", "tcp://head:", "tcp://head:0",
        "tcp://head:65536", "tcp://head:1x", "tcp://fe80::1:7070", "tcp://[]:1", "tcp://-v:1",
        "tcp://$(id):1", "tcp://a/b:1", "tcp://a\"b:1", "ipc://head:1"})
    EXPECT_FALSE(address_from(text)) << text;
  EXPECT_TRUE(is_loopback({"127.0.0.2", 1}));
  EXPECT_TRUE(is_loopback({"::1", 1}));
  EXPECT_FALSE(is_loopback({"10.0.0.1", 1}));
}

TEST(Contract, VerbsHaveTheirNames) {
  EXPECT_EQ(verb_from("create"), Verb::create);
  EXPECT_EQ(verb_from("hold"), Verb::hold);
  EXPECT_EQ(verb_from("Create"), std::nullopt);
  EXPECT_EQ(verb_from(""), std::nullopt);
}

TEST(Contract, BadRequestsAreRefusedByTheirKey) {
  const auto with = [](const char* key, const json& value) {
    json request = good();
    request[key] = value;
    return request.dump();
  };
  const auto without = [](const char* key) {
    json request = good();
    request.erase(key);
    return request.dump();
  };
  const std::pair<std::string, const char*> bad[] = {
      {"", "not a JSON object"},
      {"[]", "not a JSON object"},
      {"{", "not a JSON object"},
      {without("contract"), "contract is not 1"},
      {with("contract", 2), "contract is not 1"},
      {with("contract", "1"), "contract is not 1"},
      {without("launcher"), "launcher is missing"},
      {with("launcher", "a/../b"), "launcher must have"},
      {with("launcher", ""), "launcher must have"},
      {with("launcher", std::string(65, 'a')), "launcher must have"},
      {with("launcher", 7), "launcher is not a string"},
      {without("target"), "target is missing"},
      {with("target", "a; rm"), "a; rm"},
      {without("state"), "state is missing"},
      {with("state", "relative"), "state is not an absolute path"},
      {with("state", std::string("/a\0b", 4)), "state is too long, or contains a NUL byte"},
      {with("settings", json::array()), "settings is not an object"},
      {without("machines"), "machines is missing"},
      {with("machines", "vm1"), "machines is not a list"},
      {with("machines", json::array({"vm1"})), "not an object"},
      {with("machines", {{{"name", "-oProxyCommand=x"}}}), "is not a valid machine name"},
      {with("machines", {{{"token", "x"}}}), "name is missing"},
      {with("machines", {{{"name", "vm1"}}, {{"name", "vm1"}}}), "names vm1 twice"},
  };
  for (const auto& [text, words] : bad) {
    const auto request = request_from(text, Verb::create);
    ASSERT_FALSE(request) << text;
    EXPECT_EQ(request.error().code, ErrorCode::invalid_argument) << text;
    EXPECT_NE(request.error().message.find(words), std::string::npos) << request.error().message;
  }
  EXPECT_TRUE(request_from(without("machines"), Verb::list)) << "all machines are meant";
}

TEST(Contract, EventsAreOneLineEach) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  Events events(ends[1]);
  events.step("vm1", "connect");
  events.machine("vm1", "running", {{"kernel", "6.1\n\xff"}, {"tunnel", true}});
  events.warning("vm1", "check", "late");
  events.error("vm1", {"copy", Failure::no_space, "full"});
  ::close(ends[1]);
  std::string text(4'096, '\0');
  text.resize(static_cast<std::size_t>(::read(ends[0], text.data(), text.size())));
  ::close(ends[0]);
  std::vector<json> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(json::parse(text.substr(at, end - at)));
    at = end + 1;
  }
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], (json{{"event", "step"}, {"machine", "vm1"}, {"step", "connect"}}));
  EXPECT_EQ(lines[1]["about"]["kernel"], "6.1\n\xef\xbf\xbd");
  EXPECT_EQ(lines[1]["about"]["tunnel"], true);
  EXPECT_EQ(lines[2]["message"], "late");
  EXPECT_EQ(lines[3]["code"], "no_space");
}

}  // namespace
}  // namespace lockstep::compute
