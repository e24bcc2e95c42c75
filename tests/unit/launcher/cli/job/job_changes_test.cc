#include "launcher/cli/job/job_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using Words = std::vector<std::string>;

std::string refusal(const Words& set, const Words& remove = {}) {
  const auto changes = read_job_changes(set, remove);
  return changes ? "taken" : changes.error().message;
}

TEST(JobChanges, TextsAndTagsAreSetAndRemoved) {
  const AnnotateJob changes =
      read_job_changes({"display_name=Digits", "description=a=b, c", "tags.model=small",
                        "tags.a.b=", "tags.model=large"},
                       {"experiment_name", "tags.owner"})
          .value();
  EXPECT_EQ(changes.display_name, "Digits");
  EXPECT_EQ(changes.description, "a=b, c");
  EXPECT_EQ(changes.experiment_name, "");
  EXPECT_THAT(changes.set_tags, ElementsAre(Pair("a.b", ""), Pair("model", "large")));
  EXPECT_THAT(changes.remove_tags, ElementsAre("owner"));
  EXPECT_FALSE(changes.clear_tags);
  EXPECT_TRUE(read_job_changes({}, {"tags"}).value().clear_tags);
  EXPECT_EQ(read_job_changes({}, {}).value(), AnnotateJob{});
}

TEST(JobChanges, AKeyThatIsFixedIsRefusedWithWhatToDo) {
  EXPECT_EQ(refusal({"compute=gpus"}),
            "job update: --set 'compute=gpus': 'compute' is fixed when a job is submitted; submit "
            "another with it: `lockstep job create -f FILE --set compute=…` (display_name, "
            "description, experiment_name and tags.KEY can be changed)");
  for (const char* key : {"command", "inputs.lr", "resources.instance_count", "lockstep.retry.max",
                          "jobs.train.compute", "settings.default_compute", "environment"})
    EXPECT_THAT(refusal({std::string(key) + "=x"}), HasSubstr("is fixed when a job is submitted"))
        << key;
  EXPECT_THAT(refusal({"name=x"}), HasSubstr("change display_name"));
  EXPECT_THAT(refusal({"status=Canceled"}), HasSubstr("`lockstep job cancel NAME`"));
  EXPECT_THAT(refusal({"archived=true"}), HasSubstr("`lockstep job archive NAME`"));
  EXPECT_THAT(refusal({"queue_settings.priority=high"}), HasSubstr("--priority"));
  EXPECT_THAT(refusal({"properties.a=b"}), HasSubstr("tags.KEY"));
  EXPECT_THAT(refusal({}, {"outputs.model"}), HasSubstr("--remove 'outputs.model'"));
}

TEST(JobChanges, WhatIsWrongIsNamed) {
  EXPECT_THAT(refusal({"descripton=x"}), HasSubstr("did you mean 'description'?"));
  EXPECT_THAT(refusal({"tag.a=x"}), HasSubstr("did you mean 'tags'?"));
  EXPECT_THAT(refusal({"display_name"}), HasSubstr("is not of the form KEY=VALUE"));
  EXPECT_THAT(refusal({"=x"}), HasSubstr("is not of the form KEY=VALUE"));
  EXPECT_THAT(refusal({"tags={a: b}"}), HasSubstr("write tags.KEY=VALUE, once for each tag"));
  EXPECT_THAT(refusal({"tags.=x"}), HasSubstr("has no key"));
  EXPECT_THAT(refusal({"tags.a=x"}, {"tags.a"}), HasSubstr("--set gives it a value as well"));
  EXPECT_THAT(refusal({"description=x"}, {"description"}), HasSubstr("write one of them"));
}

}  // namespace
}  // namespace lockstep::cli
