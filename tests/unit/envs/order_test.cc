#include "envs/order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::envs {
namespace {

using testing::HasSubstr;

TEST(Orders, ComeBackFromTheirLine) {
  const Lock lock{"venv",
                  "linux-x86_64-python3.11",
                  "pip 23",
                  {{"six", "1", {std::string(64, 'a')}, "https://h/s", 3}},
                  {}};
  Lock of_image{"docker", "linux-x86_64", "docker 20", {}, {}};
  of_image.image = {"sha256:" + std::string(64, 'b'),
                    "debian:12",
                    "debian@sha256:" + std::string(64, 'c'),
                    "node-a",
                    true,
                    "/p/bin/python",
                    "3.11",
                    {"/p/bin"},
                    {{"CONDA_PREFIX", "/p"}}};
  const Order orders[] = {
      {Order::What::solve,
       VenvEnvironment{"python3", {"--pre"}, {"a b", "c"}, {"d"}},
       {},
       {"/p", "/c"}},
      {Order::What::build, VenvEnvironment{}, lock, {"/p", "/c"}},
      {Order::What::build, HostEnvironment{"/opt/\"odd\"\npath"}, {}, {"/p", "/c"}},
      {Order::What::solve,
       CondaEnvironment{{"conda-forge", "file:///c"},
                        false,
                        {"a >=1,<2", "c::b"},
                        {{"linux-64", {"https://h/a.conda#md5:0"}}, {"", {}}},
                        {"--pre"},
                        {"six"},
                        {"six<2"},
                        {{"A", "b c"}}},
       {},
       {"/p", "/c", true, "linux-64 __cuda=12.4 __glibc=2.36"}},
      {Order::What::solve,
       DockerEnvironment{"", ImageBuild{sha256("x"), "a/Dockerfile"}, {}},
       {},
       {"/p", "/c", false, "linux-x86_64", {"/h", "/s", "lockstep/env:1", "/r", "/x", "/t"}}},
      {Order::What::build,
       DockerEnvironment{"debian:12", {}, CondaEnvironment{{"c"}, true, {"a"}, {}, {}, {}, {}, {}}},
       of_image,
       {"/p", "/c"}},
      {Order::What::missing, CondaEnvironment{}, lock, {"/p", "/c"}},
      {Order::What::fetch,
       CondaEnvironment{},
       lock,
       {"/p", "/c", false, "linux-64", {}, {"/a", "/w", "/f"}}},
  };
  for (const Order& order : orders) {
    const std::string line = to_json(order);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    const auto back = order_from_json(line);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, order);
  }
}

TEST(Orders, ThatAreNoneAreRefused) {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"do": "build"})", R"({"do": "build", "definition": 3})"}) {
    const auto order = order_from_json(text);
    ASSERT_FALSE(order) << text;
    EXPECT_THAT(order.error().message, HasSubstr("not an order")) << text;
  }
}

TEST(Events, ComeBackFromTheirLine) {
  Event progress;
  progress.progress = "Collecting six \xff";  // what tools print need not be UTF-8
  Event failed;
  failed.failed = make_error(ErrorCode::unavailable, "the index\nis away");
  Event built;
  built.activation = Activation{"/p/bin/python", "3.11.2", {"/p/bin"}, {{"VIRTUAL_ENV", "/p"}}};
  EXPECT_THAT(event_from_json(to_json(progress))->progress, HasSubstr("Collecting six"));
  EXPECT_FALSE(event_from_json(to_json(progress))->is_last());
  const auto back = event_from_json(to_json(failed));
  ASSERT_TRUE(back && back->failed && back->is_last());
  EXPECT_EQ(back->failed->code, ErrorCode::unavailable);
  EXPECT_EQ(back->failed->message, "the index\nis away");
  EXPECT_EQ(event_from_json(to_json(built))->activation, built.activation);
  built.activation->container =
      Container{"/usr/bin/docker", false,           true, "sha256:1", "/bin/sh", true, false,
                "nvidia",          {{"PATH", "/b"}}};
  EXPECT_EQ(event_from_json(to_json(built))->activation, built.activation);
  Event wants;
  wants.wants_tree = true;
  EXPECT_TRUE(event_from_json(to_json(wants))->wants_tree);
  EXPECT_TRUE(event_from_json(to_json(wants))->is_last());
  Event missing;
  missing.missing = {std::string(64, 'a')};
  EXPECT_EQ(event_from_json(to_json(missing))->missing, missing.missing);
  missing.missing->clear();
  EXPECT_TRUE(event_from_json(to_json(missing))->is_last());
  EXPECT_FALSE(event_from_json("oh"));
}

}  // namespace
}  // namespace lockstep::envs
