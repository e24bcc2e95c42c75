// What large objects cost as JSON.

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "launcher/api/json/keys/keys.h"

namespace lockstep::api {
namespace {

double seconds_for(int keys) {
  std::map<std::string, std::string> map;
  for (int i = 0; i < keys; ++i) map["a key of some length " + std::to_string(i)] = "value";
  const auto start = std::chrono::steady_clock::now();
  const Json json = to_json(map);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(json.size(), map.size());
  EXPECT_EQ(json.dump().substr(0, 34), R"({"a key of some length 0":"value",)");
  return took.count();
}

TEST(JsonSize, AnObjectTakesTimeByItsKeysAndNotByTheirSquare) {
  const double few = seconds_for(5'000), many = seconds_for(50'000);
  EXPECT_LT(many, 40 * few + 0.05);
}

}  // namespace
}  // namespace lockstep::api
