#include "launcher/files/job/queue_reader.h"

#include <fmt/format.h>

namespace lockstep::spec {

namespace {

constexpr std::string_view kAfter = "lockstep.after";

class AfterReader {
 public:
  explicit AfterReader(const Source& source) : source_(source) {}

  Status add(const YamlNode& node, std::vector<After>& all) const {
    if (node.kind == YamlNode::Kind::scalar) {
      auto after = after_from(node.text);
      if (!after) return wrong(node.place, after.error().message);
      all.push_back(*std::move(after));
      return {};
    }
    if (node.kind != YamlNode::Kind::mapping)
      return wrong(node.place, fmt::format("must be names of jobs, or {{job: NAME, when: ended}}; "
                                           "this is {}",
                                           describe(node.kind)));
    return add_mapping(node, all);
  }

 private:
  Status add_mapping(const YamlNode& mapping, std::vector<After>& all) const {
    std::string job, when = std::string(to_string(AfterWhen::completed));
    for (const YamlEntry& entry : mapping.entries) {
      if (entry.key != "job" && entry.key != "when")
        return wrong(entry.place,
                     fmt::format("unknown key '{}'; the known keys are job and when", entry.key));
      if (entry.value.kind != YamlNode::Kind::scalar)
        return wrong(entry.value.place, fmt::format("'{}' must be a string, not {}", entry.key,
                                                    describe(entry.value.kind)));
      (entry.key == "job" ? job : when) = entry.value.text;
    }
    if (job.empty()) return wrong(mapping.place, "needs the key job, with a job's name");
    auto after = after_from(job + ":" + when);
    if (!after) return wrong(mapping.place, after.error().message);
    all.push_back(*std::move(after));
    return {};
  }
  Status wrong(const Place& place, const std::string& what) const {
    return source_.error(place, fmt::format("'{}': {}", kAfter, what));
  }

  const Source& source_;
};

}  // namespace

Result<std::vector<After>> read_after(const Source& source, const YamlNode& node) {
  std::vector<After> all;
  const AfterReader reader(source);
  if (node.kind != YamlNode::Kind::sequence) {
    TRY(reader.add(node, all));
    return all;
  }
  for (const YamlNode& item : node.items) TRY(reader.add(item, all));
  return all;
}

std::string note_of_tier(JobTier tier) {
  switch (tier) {
    case JobTier::unset:
    case JobTier::spot: return "";
    case JobTier::basic:
    case JobTier::standard:
    case JobTier::premium: break;
  }
  return fmt::format(
      "queue_settings.job_tier '{}' is not used: only spot has a meaning here (low-priority nodes "
      "will do); queue_settings.priority says which jobs go first",
      to_string(tier));
}

}  // namespace lockstep::spec
