#include "common/wire/findings.h"

#include <gtest/gtest.h>

namespace lockstep::wire {
namespace {

TEST(FindingsTest, ComeBackAsTheyWere) {
  const Findings findings{{"node", "GPUs", Verdict::problem, "no driver \"x\"\n", "install it"},
                          {"", "", Verdict::ok, "", ""}};
  const std::string json = encode(findings);
  EXPECT_NE(json.find("\"ok\": false"), std::string::npos) << json;
  EXPECT_EQ(decode_findings(json).value(), findings);
  EXPECT_EQ(decode_findings(encode({})).value(), Findings{});
}

TEST(FindingsTest, WhatIsNoneIsRefused) {
  for (const char* text : {"", "[]", "{}", "{\"findings\": 1}", "{\"findings\": [1]}",
                           "{\"findings\": [{\"verdict\": \"fine\"}]}", "{\"findings\": [{}]}"})
    EXPECT_FALSE(decode_findings(text)) << text;
}

}  // namespace
}  // namespace lockstep::wire
