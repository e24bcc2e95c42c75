// Addresses of inputs, for others than their writers.

#include "launcher/files/data/data_path.h"

#include <gtest/gtest.h>

namespace lockstep::spec {
namespace {

TEST(AnAddress, IsShownWithoutWhatMayBeACredential) {
  struct {
    const char *address, *shown;
  } const kCases[] = {
      {"http://u:p@h/d.txt?sig=S", "http://***@h/d.txt?sig=***"},
      {"https://token@h:8080/a/b", "https://***@h:8080/a/b"},
      {"https://h/d?a=1&sv=2;b=3#part", "https://h/d?a=***&sv=***;b=***#part"},
      {"https://h?x=y=z@w/v", "https://h?x=***"},
      {"https://u:p@w@h/", "https://***@h/"},
      {"https://h/d?SECRET", "https://h/d?***"},
      {"https://h/d?a=&b&", "https://h/d?a=&***&"},
      {"https://h/d?", "https://h/d?"},
      {"https://h/me@home/d.txt", "https://h/me@home/d.txt"},
      {"https://h", "https://h"},
      {"", ""},
  };
  for (const auto& one : kCases) EXPECT_EQ(without_credentials(one.address), one.shown);
}

}  // namespace
}  // namespace lockstep::spec
