#include "launcher/spec/expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "common/base/nearest.h"
#include "common/base/trimmed.h"
#include "common/domain/secrets.h"

namespace lockstep::spec {

namespace {

constexpr std::string_view kOpen = "${{";
constexpr std::string_view kClose = "}}";
constexpr std::string_view kOptional = "$[[";

// Where the expression stands in the file: a block or folded text has moved it, so it is looked for
// from the value's beginning on.
Place place_of_expression(const Source& source, const YamlNode& node, std::string_view expression) {
  if (node.place.override_text) return node.place;
  const auto at = source.text.find(expression, node.place.offset);
  return at == std::string_view::npos ? node.place : source.place_of(at);
}

// `kind`: "input" or "output"; `known`: the names that the job has.
Error unknown_name(std::string_view kind, const std::string& name, const std::string& whole,
                   const std::vector<std::string_view>& known) {
  const auto dot = name.find('.');
  const bool is_known = std::find(known.begin(), known.end(), name.substr(0, dot)) != known.end();
  if (dot != std::string::npos && is_known)
    return make_error(ErrorCode::unsupported, fmt::format("'{}' is not supported yet", whole));
  std::string message = fmt::format("unknown {} '{}' in '{}'", kind, name, whole);
  const std::string near = nearest(name, known);
  if (!near.empty()) message += fmt::format("; did you mean '{}'?", near);
  if (known.empty()) message += fmt::format("; the job has no '{}s'", kind);
  return make_error(ErrorCode::invalid_argument, message);
}

Result<std::string> value_of(std::string_view inner, const JobSpec& spec, Secrets secrets) {
  constexpr std::string_view kInputs = "inputs.", kOutputs = "outputs.", kSecrets = "secrets.";
  const std::string whole = fmt::format("${{{{{}}}}}", inner);
  for (std::string_view later : {"search_space.", "parent."})
    if (inner.rfind(later, 0) == 0)
      return make_error(ErrorCode::unsupported, fmt::format("'{}' is not supported yet", whole));
  std::vector<std::string_view> names;
  if (inner.rfind(kInputs, 0) == 0) {
    const std::string name(inner.substr(kInputs.size()));
    for (const DataInput& input : spec.data) {
      if (name == input.name || name == input.name + ".path") return input_expression(input.name);
      names.push_back(input.name);
    }
    if (const auto found = spec.inputs.find(name); found != spec.inputs.end()) return found->second;
    for (const auto& [known, value] : spec.inputs) names.push_back(known);
    return unknown_name("input", name, whole, names);
  }
  if (inner.rfind(kOutputs, 0) == 0) {
    const std::string name(inner.substr(kOutputs.size()));
    for (const OutputSpec& output : spec.outputs) {
      if (output.name == name) return output_expression(name);
      names.push_back(output.name);
    }
    return unknown_name("output", name, whole, names);
  }
  if (inner.rfind(kSecrets, 0) == 0) {
    const std::string name(inner.substr(kSecrets.size()));
    TRY(validate_secret_name(name));
    if (secrets == Secrets::allowed) return secret_expression(name);
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("'{}' is allowed only in values of environment_variables: here "
                                  "others could read the secret",
                                  whole));
  }
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("'{}' is not an expression; write ${{{{inputs.NAME}}}}, "
                                "${{{{outputs.NAME}}}} or ${{{{secrets.NAME}}}}",
                                whole));
}

}  // namespace

Result<std::string> substitute(const Source& source, const YamlNode& node, const JobSpec& spec,
                               Secrets secrets) {
  const std::string& text = node.text;
  std::string out;
  std::size_t at = 0;
  while (true) {
    const auto open = text.find(kOpen, at);
    const auto optional = text.find(kOptional, at);
    if (optional < open && open != std::string::npos && text.find("]]", optional) > open)
      return source.error(place_of_expression(source, node, kOptional),
                          "'$[[…]]' is not supported yet", ErrorCode::unsupported);
    if (open == std::string::npos) return out + text.substr(at);
    out += text.substr(at, open - at);
    const auto close = text.find(kClose, open + kOpen.size());
    if (close == std::string::npos)
      return source.error(place_of_expression(source, node, kOpen), "'${{' has no closing '}}'");
    const std::string_view expression =
        std::string_view(text).substr(open, close + kClose.size() - open);
    const auto inner = expression.substr(kOpen.size(), expression.size() - 5);
    auto value = value_of(trimmed(inner), spec, secrets);
    if (!value)
      return source.error(place_of_expression(source, node, expression), value.error().message,
                          value.error().code);
    out += *value;
    at = close + kClose.size();
    if (out.size() > kMaxFileBytes)
      return source.error(node.place, "is longer than 1 MiB after its inputs are filled in");
  }
}

}  // namespace lockstep::spec
