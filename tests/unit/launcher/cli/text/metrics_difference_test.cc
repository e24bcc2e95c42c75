#include "launcher/cli/text/differences/metrics_difference.h"

#include <gmock/gmock.h>

#include <cmath>

namespace lockstep::cli {
namespace {

TEST(MetricsDifference, NamesWhatTwoJobsLoggedDifferently) {
  MetricsReply a, b;
  a.metrics = b.metrics = {{"loss", 1, {5, {}, 0.5}, 0.25, 0.9, 4, 0}};
  a.params = b.params = {{"lr", "0.1"}};
  EXPECT_THAT(differences_of(a, b), testing::IsEmpty());
  b.metrics[0].last.value = std::nan("");
  b.params["lr"] = "0.2";
  a.metrics.push_back({"acc", 1, {1, {}, 0.5}, {}, {}, 0, 0});
  const auto differences = differences_of(a, b);
  ASSERT_EQ(differences.size(), 3u);
  EXPECT_EQ(differences[0].key, "metrics.acc.last");
  EXPECT_EQ(differences[0].a, 0.5);
  EXPECT_TRUE(differences[0].b.is_null());
  EXPECT_EQ(differences[1].key, "metrics.loss.last");
  EXPECT_EQ(differences[1].b, "NaN");
  EXPECT_EQ(differences[2].key, "params.lr");
}

}  // namespace
}  // namespace lockstep::cli
