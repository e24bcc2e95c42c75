#include "launcher/cli/terminal/progress_bar.h"

#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

TEST(Bars, StandBeforeWhatTheyShow) {
  EXPECT_EQ(with_bars("j: Preparing (n1: building: download 120/340 MB (numpy))"),
            "j: Preparing (n1: building: download [===       ] 120/340 MB (numpy))");
  EXPECT_EQ(with_bars("n2: building: link 50/50 packages; n3: image layers 0/7"),
            "n2: building: link [==========] 50/50 packages; n3: image layers [          ] 0/7");
  EXPECT_EQ(
      with_bars("node n1: install 120/340 …; n2: building: link 3/12 …; and 2 more"),
      "node n1: install [===       ] 120/340 …; n2: building: link [==        ] 3/12 …; and 2 "
      "more");
  EXPECT_EQ(with_bars("9/3"), "[==========] 9/3");
  EXPECT_EQ(with_bars("a (1/2), b"), "a ([=====     ] 1/2), b");
}

TEST(Bars, DoNotStandBeforeOtherTexts) {
  for (const char* text :
       {"", " ", "j: Running", "/usr/1/2", "1/2/3", "a/b", "1/", "/2", "0/0", "-1/2", "x1/2",
        "99999999999999999999999/2", "fetching https://h/1/2 now", "(", "a  b "})
    EXPECT_EQ(with_bars(text), text);
}

}  // namespace
}  // namespace lockstep::cli
