#include "launcher/files/data/bound_output.h"

#include <fmt/format.h>

#include "launcher/files/yaml/shapes.h"

namespace lockstep::spec {

namespace {

// The expression that `node` must consist of.
Result<Reference> read_reference(const Source& source, const std::string& name,
                                 const YamlNode& node, bool is_path) {
  TRY_ASSIGN(const BoundText text, parse_bindings(source, node));
  const Reference* reference = text.single();
  const std::string key = join("outputs", name) + (is_path ? ".path" : "");
  if (reference == nullptr && is_path)
    return source.error(node.place, fmt::format("'{}' must be one expression alone, "
                                                "${{{{parent.outputs.NAME}}}}, or "
                                                "azureml://datastores/NAME/paths/PATH",
                                                key));
  if (reference == nullptr)
    return source.error(node.place, fmt::format("'{}' must be a mapping (type, mode), nothing, or "
                                                "the expression ${{{{parent.outputs.NAME}}}}",
                                                key));
  const bool is_output = reference->kind == Reference::Kind::pipeline_output ||
                         reference->kind == Reference::Kind::step_output;
  if (!is_output)
    return source.error(node.place, fmt::format("'{}': '{}' is an input; an output is bound to "
                                                "${{{{parent.outputs.NAME}}}}",
                                                key, reference->whole));
  return *reference;
}

}  // namespace

std::optional<BoundOutput> read_bound_output(const Source& source, const YamlEntry& entry,
                                             Faults& faults) {
  BoundOutput bound;
  bound.place = entry.place;
  bound.output = read_output(source, entry.key, entry.value, faults);
  const bool is_text = entry.value.kind == YamlNode::Kind::scalar;
  const YamlEntry* path = entry.value.find("path");
  const bool is_bound_by_path = path != nullptr && mentions_parent(path->value.text);
  if (!is_text && !is_bound_by_path) return bound;
  auto reference = read_reference(source, entry.key, is_text ? entry.value : path->value, !is_text);
  if (!reference) {
    faults.add(is_text ? entry.value.place : path->value.place, reference.error());
    faults.mark_faulty(join("outputs", entry.key));
    return std::nullopt;
  }
  const bool is_from = reference->kind == Reference::Kind::step_output;
  (is_from ? bound.from : bound.bound) = *std::move(reference);
  return bound;
}

}  // namespace lockstep::spec
