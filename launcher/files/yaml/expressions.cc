#include "launcher/files/yaml/expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "common/base/nearest.h"
#include "common/base/trimmed.h"
#include "common/domain/people/secrets.h"

namespace lockstep::spec {

namespace {

constexpr std::string_view kOpen = "${{";
constexpr std::string_view kClose = "}}";
constexpr std::string_view kOptional = "$[[";
constexpr std::string_view kOptionalEnd = "]]";

// The error for an unknown name. `kind`: "input" or "output"; `known`: the names that the job has.
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

// The value of an input; nullopt: the input is optional and has no value.
Result<std::optional<std::string>> value_of_input(const std::string& name, const std::string& whole,
                                                  const ExpressionNames& all) {
  const JobSpec& spec = all.spec;
  std::vector<std::string_view> names;
  for (const DataInput& input : spec.data) {
    if (name == input.name || name == input.name + ".path")
      return std::optional(input_expression(input.name));
    names.push_back(input.name);
  }
  if (const auto found = spec.inputs.find(name); found != spec.inputs.end())
    return std::optional(found->second);
  if (all.unset.count(name) != 0) return std::optional<std::string>();
  for (const auto& unset : all.unset) names.push_back(unset);
  for (const auto& [known, value] : spec.inputs) names.push_back(known);
  return unknown_name("input", name, whole, names);
}

Result<std::optional<std::string>> value_of_output(const std::string& name,
                                                   const std::string& whole, const JobSpec& spec) {
  std::vector<std::string_view> names;
  for (const OutputSpec& output : spec.outputs) {
    if (output.name == name) return std::optional(output_expression(name));
    names.push_back(output.name);
  }
  return unknown_name("output", name, whole, names);
}

// The value of an expression; nullopt: an optional input without a value.
Result<std::optional<std::string>> value_of(std::string_view inner, const ExpressionNames& all,
                                            Secrets secrets) {
  constexpr std::string_view kInputs = "inputs.", kOutputs = "outputs.", kSecrets = "secrets.";
  const std::string whole = fmt::format("${{{{{}}}}}", inner);
  if (inner.rfind("search_space.", 0) == 0)
    return make_error(ErrorCode::unsupported, fmt::format("'{}' is not supported yet", whole));
  if (inner.rfind("parent.", 0) == 0)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("'{}' is possible only in a step's inputs and outputs; bind an "
                                  "input to it there, and write ${{{{inputs.NAME}}}} here",
                                  whole));
  if (inner.rfind(kInputs, 0) == 0)
    return value_of_input(std::string(inner.substr(kInputs.size())), whole, all);
  if (inner.rfind(kOutputs, 0) == 0)
    return value_of_output(std::string(inner.substr(kOutputs.size())), whole, all.spec);
  if (inner.rfind(kSecrets, 0) == 0) {
    const std::string name(inner.substr(kSecrets.size()));
    TRY(validate_secret_name(name));
    if (secrets == Secrets::allowed) return std::optional(secret_expression(name));
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

class Substitution {
 public:
  Substitution(const Source& source, const YamlNode& node, const ExpressionNames& names,
               Secrets secrets)
      : source_(source), node_(node), names_(names), secrets_(secrets), text_(node.text) {}

  Result<std::string> run() {
    while (true) {
      const auto open = text_.find(kOpen, at_);
      const auto optional = text_.find(kOptional, at_);
      const auto end =
          optional < open ? text_.find(kOptionalEnd, optional) : std::string_view::npos;
      // If it contains no expression, it belongs to the shell.
      if (open != std::string_view::npos && end != std::string_view::npos && end > open) {
        TRY(put_optional(optional, end));
      } else if (open != std::string_view::npos) {
        put_text(open);
        TRY_ASSIGN(const auto value, take_expression());
        if (!value) return unset();
        out_ += *value;
      } else {
        put_text(text_.size());
        return std::move(out_);
      }
      if (out_.size() > kMaxFileBytes)
        return source_.error(node_.place, "is longer than 1 MiB after its inputs are filled in");
    }
  }

 private:
  void put_text(std::size_t end) {
    out_ += text_.substr(at_, end - at_);
    at_ = end;
  }
  // Handles the text between "$[[" and "]]".
  Status put_optional(std::size_t begin, std::size_t end) {
    put_text(begin);
    at_ = begin + kOptional.size();
    const std::size_t kept = out_.size();
    bool is_set = true;
    for (auto open = text_.find(kOpen, at_); open < end; open = text_.find(kOpen, at_)) {
      put_text(open);
      TRY_ASSIGN(const auto value, take_expression());
      if (value)
        out_ += *value;
      else
        is_set = false;
    }
    if (at_ <= end) put_text(end);
    at_ = std::max(at_, end + kOptionalEnd.size());
    if (!is_set) out_.resize(kept);
    return {};
  }
  // Called when `at_` is at "${{".
  Result<std::optional<std::string>> take_expression() {
    const auto close = text_.find(kClose, at_ + kOpen.size());
    if (close == std::string_view::npos)
      return source_.error(place_of_expression(source_, node_, kOpen), "'${{' has no closing '}}'");
    last_ = text_.substr(at_, close + kClose.size() - at_);
    at_ = close + kClose.size();
    const auto inner = last_.substr(kOpen.size(), last_.size() - kOpen.size() - kClose.size());
    auto value = value_of(trimmed(inner), names_, secrets_);
    if (value) return value;
    return source_.error(place_of_expression(source_, node_, last_), value.error().message,
                         value.error().code);
  }
  Error unset() const {
    return source_.error(
        place_of_expression(source_, node_, last_),
        fmt::format("'{0}': the input is optional and has no value; write $[[… {0} …]], which is "
                    "left out then, or give it a value",
                    last_));
  }

  const Source& source_;
  const YamlNode& node_;
  const ExpressionNames& names_;
  const Secrets secrets_;
  const std::string_view text_;
  std::string_view last_;  // the last expression
  std::string out_;
  std::size_t at_ = 0;
};

}  // namespace

Place place_of_expression(const Source& source, const YamlNode& node, std::string_view expression) {
  if (node.place.override_text) return node.place;
  const Source& file = source.of(node.place);
  const auto at = file.text.find(expression, node.place.offset);
  if (at == std::string_view::npos) return node.place;
  Place place = file.place_of(at);
  place.source = node.place.source;
  return place;
}

Result<std::string> substitute(const Source& source, const YamlNode& node,
                               const ExpressionNames& names, Secrets secrets) {
  return Substitution(source, node, names, secrets).run();
}

}  // namespace lockstep::spec
