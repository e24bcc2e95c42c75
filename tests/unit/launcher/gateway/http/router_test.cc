#include "launcher/gateway/http/site/router.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace lockstep::http {
namespace {

const std::string kHex(64, 'a');

Router<std::string> some_router() {
  Router<std::string> router;
  router.add(Method::get, "/", "root");
  router.add(Method::get, "/jobs", "list");
  router.add(Method::post, "/jobs", "create");
  router.add(Method::get, "/jobs/{job:name}", "show");
  router.add(Method::remove, "/jobs/{job:name}", "delete");
  router.add(Method::get, "/jobs/latest", "latest");
  router.add(Method::get, "/jobs/{job:name}/ranks/{rank:number}", "rank");
  router.add(Method::get, "/jobs/{job:name}/files/{path:rest}", "file");
  router.add(Method::get, "/blobs/{blob:digest}", "blob");
  router.add(Method::get, "/blobs/{label:name}", "label");
  return router;
}

// "ROUTE" and what its parameters say; "404", or "405 " and the methods.
std::string found(Method method, std::string_view path) {
  static const Router<std::string> router = some_router();
  const auto target = parse_target(path);
  if (!target) return "400";
  const auto result = router.find(method, *target);
  if (std::holds_alternative<Router<std::string>::NoSuchPath>(result)) return "404";
  if (const auto* none = std::get_if<Router<std::string>::NoSuchMethod>(&result)) {
    std::string text = "405";
    for (const Method each : none->allowed) text += " " + std::string(to_string(each));
    return text;
  }
  const auto& match = std::get<Router<std::string>::Match>(result);
  const Parameters& parameters = match.parameters;
  if (*match.route == "show") return "show " + parameters.text("job");
  if (*match.route == "rank")
    return fmt::format("rank {} of {}", parameters.number("rank"), parameters.text("job"));
  if (*match.route == "file")
    return "file " + parameters.text("path") + " of " + parameters.text("job");
  if (*match.route == "blob") return "blob " + parameters.digest("blob").hex();
  if (*match.route == "label") return "label " + parameters.text("label");
  return *match.route;
}

TEST(RouterTest, FindsByPathAndMethod) {
  EXPECT_EQ(found(Method::get, "/"), "root");
  EXPECT_EQ(found(Method::get, "/jobs"), "list");
  EXPECT_EQ(found(Method::post, "/jobs"), "create");
  EXPECT_EQ(found(Method::get, "/jobs?limit=1"), "list");
  EXPECT_EQ(found(Method::remove, "/jobs/x"), "delete");
  EXPECT_EQ(found(Method::head, "/jobs"), "list") << "HEAD has GET's route";
}

TEST(RouterTest, ParametersAreDecodedAndTyped) {
  EXPECT_EQ(found(Method::get, "/jobs/gray_pig"), "show gray_pig");
  EXPECT_EQ(found(Method::get, "/jobs/a%20b"), "show a b");
  EXPECT_EQ(found(Method::get, "/jobs/latest"), "latest") << "a literal wins";
  EXPECT_EQ(found(Method::get, "/jobs/latest/ranks/7"), "rank 7 of latest") << "where it leads on";
  EXPECT_EQ(found(Method::get, "/jobs/x/files/a/b%20c/d"), "file a/b c/d of x");
  EXPECT_EQ(found(Method::get, "/blobs/" + kHex), "blob " + kHex);
  EXPECT_EQ(found(Method::get, "/blobs/abc"), "label abc");
}

TEST(RouterTest, WhatIsNotThereIsNotFound) {
  for (const char* path :
       {"/job", "/jobs/", "//jobs", "/jobs/x/", "/jobs/x/ranks", "/jobs/x/ranks/-1",
        "/jobs/x/ranks/1.5", "/jobs/x/ranks/99999999999999999999", "/jobs/x/files",
        "/jobs/x/files/", "/jobs/x/files/a/", "/jobs/x/files//a", "/Jobs", "/jobs/x/y"})
    EXPECT_EQ(found(Method::get, path), "404") << path;
  EXPECT_EQ(found(Method::get, "/jobs/x/files/../../y"), "400");
}

TEST(RouterTest, TellsWhatAPathHas) {
  EXPECT_EQ(found(Method::put, "/jobs"), "405 GET HEAD POST OPTIONS");
  EXPECT_EQ(found(Method::options, "/jobs/x"), "405 GET HEAD DELETE OPTIONS");
}

TEST(RouterTest, ManySegmentsCostLittle) {
  std::string path = "/jobs/x/files";
  for (int i = 0; i < 4'000; ++i) path += "/a";
  EXPECT_EQ(found(Method::get, path).size(), std::string("file  of x").size() + 7'999);
  EXPECT_EQ(found(Method::get, "/jobs" + path), "404");
}

}  // namespace
}  // namespace lockstep::http
