#include "agent/daemon/offer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::agent {
namespace {

TEST(KeptOffer, IsWhatTheFlagsOfEarlierStartsSaid) {
  const test::TempDir dir;
  const std::string path = dir / "offer.json";
  EXPECT_EQ(offer_of(path, {}).value(), Offer{}) << "a node offers all by default";
  const Offer first = offer_of(path, {"0-3", "16g", "none", "rack1"}).value();
  ASSERT_TRUE(keep_offer(path, first));
  EXPECT_EQ(offer_of(path, {}).value(), (Offer{"0-3", "16g", "none", "rack1"}));
  EXPECT_EQ(describe(first), "--cpus 0-3, --memory 16g, --gpus none, --network rack1");
  const OfferFlags at{{}, {}, {}, {}, {}, "10.1.2.3"};
  const Offer there = offer_of(path, at).value();
  EXPECT_EQ(there.advertise, "10.1.2.3");
  EXPECT_EQ(describe(there),
            "--cpus 0-3, --memory 16g, --gpus none, --network rack1, --advertise 10.1.2.3");
  ASSERT_TRUE(keep_offer(path, there));
  EXPECT_EQ(offer_of(path, {}).value(), there) << "as the agent is started again";
  ASSERT_TRUE(keep_offer(path, offer_of(path, {{}, {}, {}, {}, {}, "all"}).value()));
  EXPECT_EQ(offer_of(path, {}).value(), first);
  const Offer changed = offer_of(path, {"all", "8g", {}, ""}).value();
  EXPECT_EQ(changed, (Offer{"", "8g", "none", ""}));
  ASSERT_TRUE(keep_offer(path, changed));
  EXPECT_EQ(offer_of(path, {}).value(), changed);
  EXPECT_EQ(describe(Offer{}), "");
}

TEST(KeptOffer, ADamagedFileIsNamedAndDoesNotCountAsAll) {
  const test::TempDir dir;
  dir.file("offer.json", "{}");
  const auto offer = offer_of(dir / "offer.json", {});
  ASSERT_FALSE(offer);
  EXPECT_EQ(offer.error().code, ErrorCode::corrupt);
  EXPECT_THAT(offer.error().message, testing::HasSubstr("offer.json"));
}

}  // namespace
}  // namespace lockstep::agent
