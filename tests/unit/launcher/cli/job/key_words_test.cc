#include "launcher/cli/job/key_words.h"

#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

struct Case {
  const char *both, *flags, *key;
};

TEST(KeyWords, OfAFlagAndAKeyTheOneIsSaidThatWasWritten) {
  for (const Case& one : {
           Case{"ask for less (--cpus, --memory; lockstep.resources in a job file), or join",
                "ask for less (--cpus, --memory), or join",
                "ask for less (lockstep.resources), or join"},
           Case{"leave out --gpus (lockstep.resources.gpus in a job file), or join",
                "leave out --gpus, or join", "leave out lockstep.resources.gpus, or join"},
           Case{"ask for less (--gpus; lockstep.resources.gpus in a job file); if",
                "ask for less (--gpus); if", "ask for less (lockstep.resources.gpus); if"},
           Case{"use --keep (lockstep.keep in a job file)", "use --keep", "use lockstep.keep"},
           Case{"--links keep (lockstep.links in a job file) takes links",
                "--links keep takes links", "lockstep.links takes links"},
           Case{"none; set --timeout, or limits.timeout in a job file", "none; set --timeout",
                "none; set limits.timeout"},
           Case{"keep links: --links keep, or lockstep.links: keep in a job file",
                "keep links: --links keep", "keep links: lockstep.links: keep"},
           Case{"use --conda-file FILE (environment.conda_file in a job file); or",
                "use --conda-file FILE; or", "use environment.conda_file; or"},
       }) {
    EXPECT_EQ(with_flags(one.both), one.flags);
    EXPECT_EQ(with_keys(one.both), one.key);
  }
}

TEST(KeyWords, WhoWroteFlagsReadsFlags) {
  EXPECT_EQ(with_flags("lockstep.nodes: there is no node 'n9'"),
            "--nodelist: there is no node 'n9'");
  EXPECT_EQ(with_flags("may run for 3h (limits.timeout), and"), "may run for 3h (--timeout), and");
  EXPECT_EQ(with_flags("lockstep.limits.pids: is 3"), "--pids-limit: is 3");
  for (const char* other : {"/work/lockstep.nodes.yml", "my_lockstep.nodes", "lockstep.nodes_of",
                            "`lockstep.labels` in a job file choose nodes"})
    EXPECT_EQ(with_keys(other), other);
  EXPECT_EQ(with_flags("/work/lockstep.nodes.yml"), "/work/lockstep.nodes.yml");
}

TEST(KeyWords, TextsWithoutAPairStay) {
  for (const char* text :
       {"", " in a job file", "- in a job file", "(; in a job file)", "a (b in a job file)",
        "--project x or --project y (lockstep.project in a job file)"})
    EXPECT_EQ(with_keys(text), text);
  const std::string both = "--project x or --project y (lockstep.project in a job file)";
  EXPECT_EQ(with_flags(both), both);
}

}  // namespace
}  // namespace lockstep::cli
