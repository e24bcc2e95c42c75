// Which format an asker gets.

#include "launcher/exposition/exposition_format.h"

#include <gtest/gtest.h>

#include <string>

namespace lockstep::launcher {
namespace {

TEST(ExpositionFormat, IsTheOneThatIsAskedFor) {
  constexpr auto kOpen = ExpositionFormat::open_metrics;
  constexpr auto kText = ExpositionFormat::prometheus_text;
  const std::pair<std::string, ExpositionFormat> cases[] = {
      {"", kText},
      {"*/*", kText},
      {"text/html,application/xhtml+xml,*/*;q=0.8", kText},
      {"text/plain;version=0.0.4", kText},
      {"application/openmetrics-text", kOpen},
      {"application/openmetrics-text; version=1.0.0; charset=utf-8", kOpen},
      {"Application/OpenMetrics-Text;Version=\"1.0.0\"", kOpen},
      {"application/openmetrics-text;version=0.0.1", kOpen},
      {"application/openmetrics-text;version=2.0.0", kText},
      // As Prometheus 2 and 3 ask.
      {"application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1"
       ";q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
       kOpen},
      {"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
       "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,*/*;q=0.1",
       kOpen},
      {"text/plain;q=0.9,application/openmetrics-text;q=0.5", kText},
      {"text/plain;q=0.5,application/openmetrics-text;q=0.5", kOpen},
      {"application/openmetrics-text;q=0", kText},
      {"application/openmetrics-text;q=0.0,text/plain;q=0", kText},
      {"application/openmetrics-text;q=nan", kText},
      {"application/openmetrics-text;q=-1", kText},
      {"application/openmetrics-text;q=", kText},
      {"application/openmetrics-text;q=7", kOpen},  // not more than 1
      {"application/openmetrics-text;;;", kOpen},
      {",,,;;=;,", kText},
      {";q=1", kText},
      {std::string(1'000'000, ','), kText},
      {std::string(kMaxAcceptBytes, ' ') + ",application/openmetrics-text", kText},
  };
  for (const auto& [accept, format] : cases)
    EXPECT_EQ(wanted_format(accept), format) << accept.substr(0, 200);
}

TEST(ExpositionFormat, SaysItsType) {
  EXPECT_EQ(content_type(ExpositionFormat::prometheus_text),
            "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(content_type(ExpositionFormat::open_metrics),
            "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

}  // namespace
}  // namespace lockstep::launcher
