// Reasons as JSON.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/domain/why/jobs/ends.h"
#include "launcher/api/json/keys/keys.h"

namespace lockstep::api {
namespace {

TEST(ReasonJson, NoReasonIsNullAlsoWithinAReason) {
  EXPECT_EQ(to_json(Why()), nullptr);
  const Json json = to_json(Why(RankFailed{3, "n2", Cause::exit_code, 7}));
  EXPECT_EQ(json["code"], "rank_failed");
  EXPECT_EQ(json["why"], nullptr);
  EXPECT_EQ(to_json(Why(RankFailed{3, "n2", Cause::exit_code, 7, 0, told("it said so")}))["why"],
            (Json{{"code", "told"}, {"text", "it said so"}}));
}

}  // namespace
}  // namespace lockstep::api
