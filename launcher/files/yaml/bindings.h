#pragma once
// Expressions with which a step's inputs and outputs refer to its pipeline and to other steps:
// ${{parent.inputs.lr}}, ${{parent.jobs.prepare.outputs.data}}. It only parses them;
// pipeline/input_values.h finds their values.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

struct Reference {
  enum class Kind { pipeline_input, pipeline_output, step_input, step_output };
  Kind kind = Kind::pipeline_input;
  std::string step;   // only for step_input and step_output
  std::string name;   // the name of the input or output
  std::string whole;  // "${{parent.inputs.lr}}"
  Place place;        // the place of the expression
};

// A text in pieces: literal texts, and references.
struct BoundText {
  struct Piece {
    std::string text;
    std::optional<Reference> reference;
  };
  std::vector<Piece> pieces;

  bool has_references() const;
  // The only reference, if the text is nothing else except for white space; otherwise nullptr.
  const Reference* single() const;
};

// Splits the text of a scalar into texts and expressions. Errors have their place; expressions that
// do not refer to the parent are refused.
Result<BoundText> parse_bindings(const Source& source, const YamlNode& node);

// Whether the text has an expression of the parent.
bool mentions_parent(std::string_view text);

}  // namespace lockstep::spec
