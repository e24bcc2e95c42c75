#pragma once
// Azure's expressions of a schedule, ${{name}} and ${{creation_context.trigger_time}}, in literal
// inputs of its job. Their values are known when it fires, so they have to pass the job's reader,
// which refuses expressions that it does not know: it reads words in their place.

#include <string>
#include <string_view>

#include "common/domain/job_spec.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

class FiringExpressions {
 public:
  // The words are made of `text`, the file's, so that it does not have them by chance.
  explicit FiringExpressions(std::string_view text);

  // In the values of `inputs` of a job file's tree: each expression by its word.
  void hide(YamlNode& root) const;
  // What the reader made of it: each word by the expression, as kRunName and kTriggerTime have it.
  void show(JobSpec& job) const;
  std::string shown(std::string_view message) const;

 private:
  std::string hidden(std::string_view text) const;

  std::string name_, time_;  // the words
};

}  // namespace lockstep::spec
