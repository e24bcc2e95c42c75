#pragma once
// The declared inputs of components and pipelines: literals with a type, a default and bounds, and
// data. It reads the declarations and checks literals against them.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "common/domain/data/inputs.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

enum class LiteralType { string, number, integer, boolean };
std::string_view to_string(LiteralType type);
std::optional<LiteralType> literal_type_from(std::string_view word);

struct Port {
  std::string name;
  Place place;
  std::variant<LiteralType, InputType> type = LiteralType::string;
  bool optional = false;
  std::optional<std::string> fallback;  // the `default` of a literal
  Place fallback_place;
  std::optional<std::string> least, most;  // the numbers `min` and `max`
  std::vector<std::string> choices;        // the values of `enum`; empty: any
  std::optional<InputMode> mode;           // only for data

  bool is_data() const { return std::holds_alternative<InputType>(type); }
  std::string_view type_word() const;
};

// Reads a port. `node` is the mapping of one input, whose shape is checked. nullopt behind a fault.
std::optional<Port> read_port(const Source& source, const YamlEntry& entry, Faults& faults);

// Checks that the text is a value of the port. The message begins with the value: "'0.5' is more
// than max 0.1 (train.yml:7:20)".
Status check_literal(const Source& source, const Port& port, const std::string& text);

}  // namespace lockstep::spec
