#include "launcher/spec/firing_expressions.h"

#include <algorithm>

#include "common/base/digest.h"
#include "common/base/trimmed.h"
#include "common/domain/job_schedule.h"

namespace lockstep::spec {
namespace {

constexpr std::string_view kOpening = "${{", kClosing = "}}";

// "${{name}}" -> "name".
constexpr std::string_view inside(std::string_view expression) {
  return trimmed(
      expression.substr(kOpening.size(), expression.size() - kOpening.size() - kClosing.size()));
}

}  // namespace

FiringExpressions::FiringExpressions(std::string_view text) {
  const std::string mark = sha256(text).hex().substr(0, 16);
  name_ = "run-name-" + mark;
  time_ = "trigger-time-" + mark;
}

std::string FiringExpressions::hidden(std::string_view text) const {
  std::string result;
  while (!text.empty()) {
    const auto begin = std::min(text.find(kOpening), text.size());
    const auto end = text.find(kClosing, begin);
    if (end == std::string_view::npos) break;
    const std::string_view whole = text.substr(begin, end + kClosing.size() - begin);
    result += text.substr(0, begin);
    if (inside(whole) == inside(kRunName))
      result += name_;
    else if (inside(whole) == inside(kTriggerTime))
      result += time_;
    else
      result += whole;
    text.remove_prefix(end + kClosing.size());
  }
  return result.append(text);
}

void FiringExpressions::hide(YamlNode& root) const {
  for (YamlEntry& entry : root.entries) {
    if (entry.key != "inputs") continue;
    for (YamlEntry& input : entry.value.entries)
      if (input.value.kind == YamlNode::Kind::scalar) input.value.text = hidden(input.value.text);
  }
}

void FiringExpressions::show(JobSpec& job) const {
  replace_in_texts(job, {{name_, std::string(kRunName)}, {time_, std::string(kTriggerTime)}});
}

std::string FiringExpressions::shown(std::string_view message) const {
  return replaced(message, {{name_, std::string(kRunName)}, {time_, std::string(kTriggerTime)}});
}

}  // namespace lockstep::spec
