#include "launcher/files/pipeline/input_values.h"

#include <fmt/format.h>

#include "launcher/files/yaml/literal_text.h"
#include "launcher/files/yaml/shapes.h"

namespace lockstep::spec {

namespace {

using Kind = YamlNode::Kind;
using State = PipelineInput::State;

constexpr std::size_t kMostFrom = 500;  // the most bytes for the places of a text's values

bool is_input(const Reference& reference) {
  return reference.kind == Reference::Kind::pipeline_input ||
         reference.kind == Reference::Kind::step_input;
}

// The expression in an input's value or path; nullptr if there is none.
const YamlNode* text_of(const PipelineInput& input) {
  if (input.given == nullptr) return nullptr;
  if (input.given->kind == Kind::scalar) return input.given;
  const YamlEntry* path = input.given->find("path");
  const bool is_text = path != nullptr && path->value.kind == Kind::scalar;
  return is_text && mentions_parent(path->value.text) ? &path->value : nullptr;
}

class ValueFinder {
 public:
  ValueFinder(const Source& source, PipelineOutputs* outputs, Faults& faults)
      : source_(source), outputs_(outputs), faults_(faults) {}

  void find(PipelineNode& node, PipelineInput& input);
  // The input that a reference in a step of `pipeline` means; nullptr after an error.
  PipelineInput* target(PipelineNode& pipeline, const Reference& reference);
  // Joins the parts of a value. `from`: gets the expressions and the places of their values; may be
  // null.
  std::optional<std::string> joined(PipelineNode& pipeline, const BoundText& text,
                                    std::string* from = nullptr);

 private:
  struct Frame {
    PipelineNode* node;
    PipelineInput* input;
    BoundText text;
  };

  void fault(const Place& place, const std::string& message) {
    faults_.add(place, source_.error(place, message));
  }
  bool begin(Frame& frame);
  bool push_open(const Frame& frame);
  void say_cycle(const PipelineInput* at);
  void finish(const Frame& frame);
  Value without_value(PipelineNode& node, const PipelineInput& input);
  Value value_of(const Frame& frame);
  Value referred(const Frame& frame, const Reference& reference);
  bool accept(const PipelineInput& input, const Place& place, Value& value);
  bool accept_literal(const PipelineInput& input, const Place& place, const Literal& literal);
  template <typename Data>
  bool accept_data(const PipelineInput& input, const Place& place, Data& data,
                   const Place& data_place);
  bool accept_unset(const PipelineInput& input, const Place& place, Value& value);

  const Source& source_;
  PipelineOutputs* outputs_;
  Faults& faults_;
  std::vector<Frame> stack_;
};

void ValueFinder::find(PipelineNode& node, PipelineInput& input) {
  stack_.push_back({&node, &input, {}});
  while (!stack_.empty()) {
    Frame& top = stack_.back();
    if (top.input->state == State::open && !begin(top)) {
      top.input->state = State::done;
      top.node->is_good = false;
    }
    if (top.input->state == State::busy) {
      if (push_open(top)) continue;
      finish(stack_.back());
    }
    stack_.pop_back();
  }
}

// Splits the expression into its pieces.
bool ValueFinder::begin(Frame& frame) {
  frame.input->state = State::busy;
  const YamlNode* text = text_of(*frame.input);
  if (text == nullptr) return true;
  auto parsed = parse_bindings(source_, *text);
  if (!parsed) {
    faults_.add(text->place, parsed.error());
    return false;
  }
  frame.text = *std::move(parsed);
  if (frame.node->parent != nullptr || !frame.text.has_references()) return true;
  fault(text->place, fmt::format("'inputs.{}': the outermost pipeline has no parent; write a value",
                                 frame.input->name));
  return false;
}

// Pushes the first input that this one needs and that has no value yet.
bool ValueFinder::push_open(const Frame& frame) {
  for (const BoundText::Piece& piece : frame.text.pieces) {
    if (!piece.reference || !is_input(*piece.reference)) continue;
    PipelineNode& pipeline = *frame.node->parent;
    const bool is_step = piece.reference->kind == Reference::Kind::step_input;
    PipelineNode* owner = is_step ? pipeline.step(piece.reference->step) : &pipeline;
    PipelineInput* needed = owner == nullptr ? nullptr : owner->input(piece.reference->name);
    if (needed == nullptr || needed->state == State::done) continue;
    if (needed->state == State::open) {
      stack_.push_back({owner, needed, {}});
      return true;
    }
    say_cycle(needed);
    needed->state = State::done;
    owner->is_good = false;
  }
  return false;
}

// Reports a cycle such as "a.inputs.x -> b.inputs.y -> a.inputs.x".
void ValueFinder::say_cycle(const PipelineInput* at) {
  std::string chain;
  bool is_inside = false;
  for (const Frame& frame : stack_) {
    is_inside = is_inside || frame.input == at;
    if (is_inside)
      chain += fmt::format("{} -> ", join(frame.node->name, "inputs." + frame.input->name));
  }
  const std::string first = chain.substr(0, chain.find(" -> "));
  fault(at->place, fmt::format("a cycle: these inputs refer to each other: {}{}", chain, first));
}

void ValueFinder::finish(const Frame& frame) {
  PipelineInput& input = *frame.input;
  input.value = value_of(frame);
  const YamlNode* text = text_of(input);
  const Place& place = text != nullptr ? text->place : input.place;
  if (!std::holds_alternative<std::monostate>(input.value) && !accept(input, place, input.value))
    input.value = {};
  if (std::holds_alternative<std::monostate>(input.value)) frame.node->is_good = false;
  input.state = State::done;
}

Value ValueFinder::value_of(const Frame& frame) {
  const PipelineInput& input = *frame.input;
  if (input.given == nullptr) return without_value(*frame.node, input);
  const YamlNode* text = text_of(input);
  if (text == nullptr && input.given->kind == Kind::mapping)
    return InputFiles{input.given, input.place, input.type, input.mode};
  if (text == nullptr) {
    fault(input.given->place,
          fmt::format("'inputs.{}' must be a value or a mapping with a path, not {}", input.name,
                      describe(input.given->kind)));
    return {};
  }
  if (!frame.text.has_references()) return Literal{literal_text(*text), text->place};
  if (const Reference* reference = frame.text.single()) return referred(frame, *reference);
  const auto joined_text = joined(*frame.node->parent, frame.text);
  if (!joined_text) return {};
  return Literal{*joined_text, text->place};
}

Value ValueFinder::without_value(PipelineNode& node, const PipelineInput& input) {
  const Port& port = *input.port;
  if (port.fallback) return Literal{*port.fallback, port.fallback_place};
  if (port.optional) return Unset{};
  if (node.parent == nullptr && node.component == nullptr)
    fault(port.place, fmt::format("input '{0}' has no value; write a 'default', or give --set "
                                  "inputs.{0}=VALUE",
                                  input.name));
  else
    fault(node.place, fmt::format("{} lacks the input '{}' ({}), which {} requires ({})",
                                  node.shown(), input.name, port.type_word(), node.component->shown,
                                  source_.where(port.place)));
  return {};
}

Value ValueFinder::referred(const Frame& frame, const Reference& reference) {
  PipelineNode& pipeline = *frame.node->parent;
  switch (reference.kind) {
    case Reference::Kind::pipeline_output:
      fault(reference.place,
            fmt::format("'inputs.{}': '{}' is an output; an input is bound to "
                        "${{{{parent.inputs.NAME}}}} or ${{{{parent.jobs.STEP.outputs.NAME}}}}",
                        frame.input->name, reference.whole));
      return {};
    case Reference::Kind::step_output: return outputs_->find(pipeline, reference);
    case Reference::Kind::pipeline_input:
    case Reference::Kind::step_input: {
      const PipelineInput* found = target(pipeline, reference);
      return found == nullptr ? Value() : found->value;
    }
  }
  return {};
}

PipelineInput* ValueFinder::target(PipelineNode& pipeline, const Reference& reference) {
  const bool is_step = reference.kind == Reference::Kind::step_input;
  PipelineNode* owner = is_step ? pipeline.step(reference.step) : &pipeline;
  if (owner == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& [key, node] : pipeline.by_key) names.push_back(key);
    fault(reference.place, unknown_name(fmt::format("there is no step '{}' (in '{}')",
                                                    reference.step, reference.whole),
                                        reference.step, names));
    return nullptr;
  }
  PipelineInput* found = owner->input(reference.name);
  if (found != nullptr || !owner->has_ports) return found;
  std::vector<std::string_view> names;
  for (const PipelineInput& input : owner->inputs) names.push_back(input.name);
  std::string message = fmt::format("{} has no input '{}' (in '{}')", owner->shown(),
                                    reference.name, reference.whole);
  if (names.empty()) message += fmt::format("; write it under the 'inputs' of {}", owner->shown());
  fault(reference.place, unknown_name(message, reference.name, names));
  return nullptr;
}

std::optional<std::string> ValueFinder::joined(PipelineNode& pipeline, const BoundText& text,
                                               std::string* from) {
  std::string whole;
  for (const BoundText::Piece& piece : text.pieces) {
    whole += piece.text;
    if (!piece.reference) continue;
    const Reference& reference = *piece.reference;
    if (!is_input(reference)) {
      fault(reference.place,
            fmt::format("'{}' is data; only a literal input can stand in a text", reference.whole));
      return std::nullopt;
    }
    const PipelineInput* found = target(pipeline, reference);
    if (found == nullptr || std::holds_alternative<std::monostate>(found->value))
      return std::nullopt;
    const auto* literal = std::get_if<Literal>(&found->value);
    if (literal == nullptr) {
      const bool is_unset = std::holds_alternative<Unset>(found->value);
      fault(reference.place,
            fmt::format("'{}' {} ({})", reference.whole,
                        is_unset ? "is optional and has no value"
                                 : "is data; only a literal input can stand in a text",
                        source_.where(found->place)));
      return std::nullopt;
    }
    whole += literal->text;
    if (from != nullptr && from->size() < kMostFrom)
      *from += fmt::format("{}{}, {}", from->empty() ? "" : "; ", reference.whole,
                           source_.where(literal->place));
    if (whole.size() > kMaxFileBytes) {
      fault(reference.place, "is longer than 1 MiB after its inputs are filled in");
      return std::nullopt;
    }
  }
  return whole;
}

// ---- whether a value fits what the input declares ----------------------------------------------
bool ValueFinder::accept(const PipelineInput& input, const Place& place, Value& value) {
  if (const auto* literal = std::get_if<Literal>(&value))
    return accept_literal(input, place, *literal);
  if (auto* files = std::get_if<InputFiles>(&value))
    return accept_data(input, place, *files, files->key);
  if (auto* output = std::get_if<OutputOfStep>(&value))
    return accept_data(input, place, *output, output->place);
  return accept_unset(input, place, value);
}

bool ValueFinder::accept_literal(const PipelineInput& input, const Place& place,
                                 const Literal& literal) {
  const bool is_elsewhere = source_.where(literal.place) != source_.where(place);
  const std::string from =
      is_elsewhere ? fmt::format(" (bound to {})", source_.where(literal.place)) : "";
  if (input.type && input.given != nullptr && input.given->kind == Kind::mapping) {
    fault(place, fmt::format("'inputs.{}' is a {}, but '{}' is a plain value{}", input.name,
                             to_string(*input.type), literal.text, from));
    return false;
  }
  if (input.port == nullptr) return true;
  const Status good = check_literal(source_, *input.port, literal.text);
  if (!good) fault(place, fmt::format("'inputs.{}'{}: {}", input.name, from, good.error().message));
  return good.has_value();
}

template <typename Data>
bool ValueFinder::accept_data(const PipelineInput& input, const Place& place, Data& data,
                              const Place& data_place) {
  const auto mismatch = [&](std::string_view wanted, const Place& wanted_place) {
    fault(place, fmt::format("'inputs.{}' is a {} ({}), but it is bound to a {} ({})", input.name,
                             wanted, source_.where(wanted_place),
                             data.type ? to_string(*data.type) : "file or folder",
                             source_.where(data_place)));
    return false;
  };
  if (input.port != nullptr && !input.port->is_data())
    return mismatch(input.port->type_word(), input.port->place);
  if (input.type && data.type && !takes(*input.type, *data.type))
    return mismatch(to_string(*input.type), input.place);
  if (input.port != nullptr) {
    const InputType wanted = std::get<InputType>(input.port->type);
    const auto given = input.type ? input.type : data.type;
    if (given && !takes(wanted, *given))
      return mismatch(input.port->type_word(), input.port->place);
  }
  if (!data.type) data.type = input.type;
  if (!data.type && input.port != nullptr) data.type = std::get<InputType>(input.port->type);
  if (input.port != nullptr && input.port->mode) data.mode = input.port->mode;
  if (input.mode) data.mode = input.mode;
  return true;
}

bool ValueFinder::accept_unset(const PipelineInput& input, const Place& place, Value& value) {
  const Port* port = input.port;
  if (port == nullptr || port->optional) return true;
  if (port->fallback) {
    value = Literal{*port->fallback, port->fallback_place};
    return true;
  }
  fault(place, fmt::format("'inputs.{}' is bound to an optional input that has no value, but it is "
                           "required ({})",
                           input.name, source_.where(port->place)));
  return false;
}

}  // namespace

void find_values(const Source& source, PipelineTree& tree, PipelineOutputs& outputs,
                 Faults& faults) {
  ValueFinder finder(source, &outputs, faults);
  for (const auto* nodes : {&tree.pipelines, &tree.steps})
    for (PipelineNode* node : *nodes)
      for (PipelineInput& input : node->inputs)
        if (input.state != State::done) finder.find(*node, input);
}

bool put_in_literals(const Source& source, const PipelineNode& node, YamlNode& scalar,
                     Faults& faults) {
  auto text = parse_bindings(source, scalar);
  if (!text) {
    faults.add(scalar.place, text.error());
    return false;
  }
  auto whole =
      ValueFinder(source, nullptr, faults).joined(*node.parent, *text, &scalar.filled_from);
  if (!whole) return false;
  scalar.text = *std::move(whole);
  return true;
}

}  // namespace lockstep::spec
