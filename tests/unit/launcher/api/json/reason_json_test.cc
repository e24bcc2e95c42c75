// Reasons as JSON.

#include <gtest/gtest.h>

#include "common/domain/why/jobs/ends.h"
#include "launcher/api/json/why.h"

namespace lockstep::api {
namespace {

TEST(ReasonJson, NoReasonIsNullAlsoWithinAReason) {
  EXPECT_EQ(reason_json(Why()), nullptr);
  const Json json = reason_json(RankFailed{3, "n2", Cause::exit_code, 7});
  EXPECT_EQ(json["code"], "rank_failed");
  EXPECT_EQ(json["why"], nullptr);
  EXPECT_EQ(reason_json(RankFailed{3, "n2", Cause::exit_code, 7, 0, told("it said so")})["why"],
            (Json{{"code", "told"}, {"text", "it said so"}}));
}

}  // namespace
}  // namespace lockstep::api
