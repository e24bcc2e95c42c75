#include "launcher/state/jobs/step_key.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/domain/people/secrets.h"

namespace lockstep::launcher {
namespace {

// The things that a rank can see, as text. It is divided into parts, so that two keys can be
// compared part by part.
using Parts = std::map<std::string, std::string>;

// Joins a list of words to a text such that different lists have different texts.
class Words {
 public:
  Words& add(std::string_view word) {
    text_ += std::to_string(word.size());
    text_ += ':';
    text_ += word;
    return *this;
  }
  Words& add(long long number) { return add(std::to_string(number)); }
  Words& add(const std::optional<Digest>& digest) { return add(digest ? digest->hex() : ""); }
  Words& add(const std::map<std::string, std::string>& map) {
    for (const auto& [key, value] : map) add(key).add(value);
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string words_of(const Command& command) {
  Words words;
  if (const auto* shell = std::get_if<ShellCommand>(&command))
    words.add("shell").add(shell->text);
  else
    for (const std::string& word : std::get<Argv>(command).words) words.add(word);
  return words.take();
}

std::string words_of(const ResourceRequest& resources) {
  const auto or_all = [](const auto& value) -> long long { return value ? *value : -1; };
  Words words;
  words.add(resources.instance_count).add(or_all(resources.cpus)).add(or_all(resources.gpus));
  words.add(resources.memory ? static_cast<long long>(resources.memory->count) : -1);
  words.add(resources.isolate_gpus ? 1 : 0);
  for (const std::string& word : resources.docker_args) words.add(word);
  return words.take();
}

std::string words_of(const Distribution& distribution) {
  Words words;
  words.add(to_string(distribution.kind)).add(distribution.processes_per_node);
  if (distribution.kind == Distribution::Kind::tensorflow)
    words.add(distribution.workers).add(distribution.parameter_servers);
  const RaySettings& ray = distribution.ray;
  for (const std::string& word : ray.head_arguments) words.add("head").add(word);
  for (const std::string& word : ray.worker_arguments) words.add("worker").add(word);
  return words.take();
}

constexpr const char* kCode = "code";

std::string part_of(const DataInput& input) { return "input '" + input.name + "'"; }

Parts parts_of(const JobSpec& spec) {
  Parts parts;
  parts[kCode] = Words().add(spec.snapshot).take();
  parts["command"] = words_of(spec.command);
  parts["environment"] =
      Words()
          .add(spec.environment ? std::optional(digest_of(spec.environment->definition))
                                : std::nullopt)
          .take();
  for (const auto& [name, value] : spec.environment_variables)
    parts["variable '" + name + "'"] = Words().add(value).take();
  for (const auto& [name, value] : spec.inputs)
    parts["input '" + name + "'"] = Words().add(value).take();
  for (const DataInput& input : spec.data)
    parts[part_of(input)] = Words()
                                .add(to_string(input.type))
                                .add(to_string(input.mode))
                                .add(input.tree)
                                .add(input.file)
                                .take();
  for (const OutputSpec& output : spec.outputs) {
    Words words;
    words.add(to_string(output.type));
    if (output.asset)
      words.add(output.asset->name).add(output.asset->version).add(to_string(output.asset->type));
    parts["output '" + output.name + "'"] = words.take();
  }
  parts["distribution"] = words_of(spec.distribution);
  parts["resources"] = words_of(spec.resources);
  parts["account"] = Words().add(spec.submitter).add(spec.project).add(spec.run_as).take();
  return parts;
}

// The tree of the files in a part; nullopt: the part has none.
std::optional<Digest> tree_of(const JobSpec& spec, const std::string& part) {
  if (part == kCode) return spec.snapshot;
  for (const DataInput& input : spec.data)
    if (part_of(input) == part) return input.tree;
  return std::nullopt;
}

PartChange change_of(const std::string& part, const JobSpec& before, const JobSpec& now) {
  const auto was = tree_of(before, part), is = tree_of(now, part);
  const bool is_comparable = part == kCode || (was && is);
  if (!is_comparable || was == is) return {part, {}, {}};
  return {part, was, is};
}

}  // namespace

std::optional<Digest> reuse_key(const JobSpec& spec) {
  if (spec.outputs.empty() || !secrets_of(spec.environment_variables).empty()) return std::nullopt;
  // The other job may have written newer checkpoints since.
  if (!spec.from_checkpoint_of.value.empty()) return std::nullopt;
  // An input without a tree is read in place, from a path in a datastore's directory.
  const bool reads_in_place = std::any_of(
      spec.data.begin(), spec.data.end(),
      [](const DataInput& input) { return input.mode == InputMode::direct || !input.tree; });
  const bool writes_elsewhere =
      std::any_of(spec.outputs.begin(), spec.outputs.end(),
                  [](const OutputSpec& output) { return !output.path.empty(); });
  if (reads_in_place || writes_elsewhere) return std::nullopt;
  return sha256(Words().add(parts_of(spec)).take());
}

std::vector<PartChange> differences(const JobSpec& before, const JobSpec& now) {
  const Parts old_parts = parts_of(before);
  const Parts new_parts = parts_of(now);
  std::set<std::string> names;
  for (const Parts* parts : {&old_parts, &new_parts})
    for (const auto& [name, text] : *parts) names.insert(name);
  std::vector<PartChange> different;
  for (const std::string& name : names) {
    const auto was = old_parts.find(name);
    const auto is = new_parts.find(name);
    const bool in_both = was != old_parts.end() && is != new_parts.end();
    if (!in_both || was->second != is->second) different.push_back(change_of(name, before, now));
  }
  return different;
}

}  // namespace lockstep::launcher
