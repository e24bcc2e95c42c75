#include "launcher/spec/output_reader.h"

#include "launcher/spec/job_shapes.h"
#include "launcher/spec/known_word.h"
#include "launcher/spec/output_path.h"

namespace lockstep::spec {

ReadOutput read_output(const Source& source, const std::string& name, const YamlNode& node,
                       Faults& faults) {
  ReadOutput output;
  output.name = name;
  for (const auto& inner : node.entries) {
    const bool is_path = inner.key == "path";
    if (is_empty(inner.value) || (inner.key != "type" && inner.key != "mode" && !is_path)) continue;
    const std::string shown = join(join("outputs", name), inner.key);
    const auto word = is_path
                          ? read_output_path(source, inner.value, shown)
                          : known_word(source, inner.value, join("outputs.*", inner.key), shown);
    if (!word) {
      faults.add(inner.value.place, word.error());
      faults.spoil(shown);
      continue;
    }
    if (is_path) output.path = *word;
    if (inner.key == "type") output.type = input_type_from(*word);
    if (inner.key == "mode")
      output.mode = *word == "upload" ? OutputMode::upload : OutputMode::rw_mount;
  }
  return output;
}

OutputSpec output_spec(const ReadOutput& output) {
  OutputSpec spec;
  spec.name = output.name;
  if (output.type == InputType::uri_file) spec.type = OutputType::uri_file;
  spec.mode = output.mode.value_or(spec.mode);
  spec.path = output.path;
  return spec;
}

}  // namespace lockstep::spec
