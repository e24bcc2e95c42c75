#include "common/io/log_sink.h"

#include <gtest/gtest.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include <memory>
#include <sstream>
#include <string>

namespace lockstep::io {
namespace {

std::string logged(const std::string& message) {
  std::ostringstream out;
  spdlog::logger logger("test",
                        printable_sink(std::make_shared<spdlog::sinks::ostream_sink_mt>(out)));
  logger.warn("a job of {} ended", message);
  logger.flush();
  return out.str();
}

TEST(LogSink, HostileTextChangesNoTerminal) {
  const std::string csi = "\xC2\x9B", override = "\xE2\x80\xAE", next_line = "\xC2\x85";
  const std::string text =
      logged("eve" + csi + "2J" + override + next_line + "\x1B]0;mine\x07\r\x08\x7F");
  for (const std::string& bad : {csi, override, next_line, std::string("\x1B"), std::string("\x07"),
                                 std::string("\r"), std::string("\x08"), std::string("\x7F")})
    EXPECT_EQ(text.find(bad), std::string::npos) << text;
  EXPECT_NE(text.find(" warning a job of eve?2J??"), std::string::npos) << text;
}

TEST(LogSink, AMessageOfSeveralLinesLooksLikeNoSecondOne) {
  const std::string text = logged("eve\n2026-01-31T12:00:00.000Z info node n1 joined\n");
  ASSERT_GT(text.size(), 24U);
  EXPECT_EQ(text.substr(23),
            "Z warning a job of eve\n"
            "    2026-01-31T12:00:00.000Z info node n1 joined\n"
            "     ended\n");
}

TEST(LogSink, ALineIsInTheFormatOfAllDaemonsInUtc) {
  const std::string text = logged("alice");
  ASSERT_GT(text.size(), 24U);
  EXPECT_EQ(text[10], 'T');
  EXPECT_EQ(text.substr(23), "Z warning a job of alice ended\n") << text;
}

}  // namespace
}  // namespace lockstep::io
