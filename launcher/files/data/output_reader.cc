#include "launcher/files/data/output_reader.h"

#include <fmt/format.h>

#include "common/domain/data/asset.h"
#include "launcher/files/data/output_path.h"
#include "launcher/files/yaml/bindings.h"
#include "launcher/files/yaml/known_word.h"
#include "launcher/files/yaml/shapes.h"

namespace lockstep::spec {

namespace {

// Reads the `name` and `version` under which the output will be registered.
void read_asset(const Source& source, const YamlNode& node, ReadOutput& output, Faults& faults) {
  const YamlEntry* name = node.find("name");
  const YamlEntry* version = node.find("version");
  const bool has_name = name != nullptr && !is_empty(name->value);
  const bool has_version = version != nullptr && !is_empty(version->value);
  if (!has_name && !has_version) return;
  const YamlEntry& at = has_name ? *name : *version;
  const std::string shown = join("outputs", output.name);
  if (!has_name) {
    faults.add(at.value.place,
               source.error(at.value.place, fmt::format("'{0}.version' needs '{0}.name': the name "
                                                        "under which the output is registered",
                                                        shown)));
    return;
  }
  output.asset = OutputAsset{name->value.text, has_version ? version->value.text : ""};
  const Status good = validate(asset_of(*output.asset));
  if (good) return;
  faults.add(at.value.place,
             source.error(at.value.place, fmt::format("'{}': {}", shown, good.error().message)));
  output.asset.reset();  // reported only once
}

bool is_direct_mode(const YamlEntry& entry) {
  return entry.key == "mode" && lower_case(entry.value.text) == "direct";
}

Error refused_direct(const Source& source, const YamlNode& node, const std::string& shown) {
  return source.error(
      node.place,
      fmt::format("{} 'direct' is not supported; write mode: rw_mount, and a path to which the "
                  "output is written when the job has ended; to change files of a datastore's "
                  "directory in place, name it as an input with mode: rw_mount",
                  shown),
      ErrorCode::unsupported);
}

}  // namespace

ReadOutput read_output(const Source& source, const std::string& name, const YamlNode& node,
                       Faults& faults) {
  ReadOutput output;
  output.name = name;
  for (const auto& inner : node.entries) {
    const bool is_path = inner.key == "path";
    if (is_empty(inner.value) || (inner.key != "type" && inner.key != "mode" && !is_path)) continue;
    // A bound output: see bound_output.h.
    if (is_path && mentions_parent(inner.value.text)) continue;
    const std::string shown = join(join("outputs", name), inner.key);
    auto word = is_path ? read_output_path(source, inner.value, shown)
                        : known_word(source, inner.value, join("outputs.*", inner.key), shown);
    if (!word && is_direct_mode(inner)) word = refused_direct(source, inner.value, shown);
    if (!word) {
      faults.add(inner.value.place, word.error());
      faults.mark_faulty(shown);
      continue;
    }
    if (is_path) output.path = *word;
    if (is_path) output.where = source.where(inner.value.place);
    if (inner.key == "type") output.type = input_type_from(*word);
    if (inner.key == "mode")
      output.mode = *word == "upload" ? OutputMode::upload : OutputMode::rw_mount;
  }
  read_asset(source, node, output, faults);
  return output;
}

OutputSpec output_spec(const ReadOutput& output) {
  OutputSpec spec;
  spec.name = output.name;
  if (output.type == InputType::uri_file) spec.type = OutputType::uri_file;
  spec.mode = output.mode.value_or(spec.mode);
  spec.path = output.path;
  spec.asset = output.asset;
  if (output.type != InputType::uri_folder && output.type != InputType::uri_file)
    spec.declared = output.type;
  if (spec.asset) spec.asset->type = output.type.value_or(InputType::uri_folder);
  return spec;
}

}  // namespace lockstep::spec
