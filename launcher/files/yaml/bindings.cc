#include "launcher/files/yaml/bindings.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/trimmed.h"
#include "launcher/files/yaml/expressions.h"

namespace lockstep::spec {

namespace {

constexpr std::string_view kBegin = "${{";
constexpr std::string_view kEnd = "}}";
constexpr std::string_view kParent = "parent.";

// The step and the name in "jobs.prepare.outputs.data"; nullopt: another form.
std::optional<Reference> of_step(std::string_view path) {
  constexpr std::string_view kJobs = "jobs.";
  if (!path.starts_with(kJobs)) return std::nullopt;
  path.remove_prefix(kJobs.size());
  for (const auto& [word, kind] :
       {std::pair(std::string_view(".outputs."), Reference::Kind::step_output),
        std::pair(std::string_view(".inputs."), Reference::Kind::step_input)}) {
    const auto at = path.find(word);
    if (at == std::string_view::npos || at == 0) continue;
    Reference reference;
    reference.kind = kind;
    reference.step = path.substr(0, at);
    reference.name = path.substr(at + word.size());
    if (!reference.name.empty()) return reference;
  }
  return std::nullopt;
}

std::optional<Reference> of_pipeline(std::string_view path) {
  for (const auto& [word, kind] :
       {std::pair(std::string_view("inputs."), Reference::Kind::pipeline_input),
        std::pair(std::string_view("outputs."), Reference::Kind::pipeline_output)}) {
    if (!path.starts_with(word) || path.size() == word.size()) continue;
    Reference reference;
    reference.kind = kind;
    reference.name = path.substr(word.size());
    return reference;
  }
  return std::nullopt;
}

Result<Reference> parse_reference(std::string_view whole) {
  const std::string_view inner =
      trimmed(whole.substr(kBegin.size(), whole.size() - kBegin.size() - kEnd.size()));
  const auto wrong = [&](const std::string& instead) {
    return make_error(ErrorCode::invalid_argument, fmt::format("'{}' {}", whole, instead));
  };
  if (inner.starts_with("inputs.") || inner.starts_with("outputs."))
    return wrong(fmt::format("is of a command; here write ${{{{parent.{}}}}}", inner));
  if (inner.starts_with("jobs."))
    return wrong(fmt::format("lacks its beginning; write ${{{{parent.{}}}}}", inner));
  std::optional<Reference> reference;
  if (inner.starts_with(kParent)) {
    reference = of_step(inner.substr(kParent.size()));
    if (!reference) reference = of_pipeline(inner.substr(kParent.size()));
  }
  if (!reference)
    return wrong(
        "is not an expression of a pipeline; write ${{parent.inputs.NAME}}, "
        "${{parent.jobs.STEP.outputs.NAME}} or ${{parent.outputs.NAME}}");
  reference->whole = whole;
  return *std::move(reference);
}

}  // namespace

bool BoundText::has_references() const {
  return std::any_of(pieces.begin(), pieces.end(),
                     [](const Piece& piece) { return piece.reference.has_value(); });
}

const Reference* BoundText::single() const {
  const Reference* found = nullptr;
  for (const Piece& piece : pieces) {
    const bool is_blank = !piece.reference && trimmed(piece.text).empty();
    if (is_blank) continue;
    if (!piece.reference || found != nullptr) return nullptr;
    found = &*piece.reference;
  }
  return found;
}

Result<BoundText> parse_bindings(const Source& source, const YamlNode& node) {
  BoundText bound;
  const std::string_view text = node.text;
  std::size_t at = 0;
  for (auto begin = text.find(kBegin); begin != std::string_view::npos;
       begin = text.find(kBegin, at)) {
    if (begin > at) bound.pieces.push_back({std::string(text.substr(at, begin - at)), {}});
    const auto end = text.find(kEnd, begin);
    if (end == std::string_view::npos)
      return source.error(place_of_expression(source, node, kBegin), "'${{' has no closing '}}'");
    const std::string_view whole = text.substr(begin, end + kEnd.size() - begin);
    const Place place =
        text.size() == whole.size() ? node.place : place_of_expression(source, node, whole);
    auto reference = parse_reference(whole);
    if (!reference) return source.error(place, reference.error().message);
    reference->place = place;
    bound.pieces.push_back({"", *std::move(reference)});
    at = end + kEnd.size();
  }
  if (at < text.size() || bound.pieces.empty())
    bound.pieces.push_back({std::string(text.substr(at)), {}});
  return bound;
}

bool mentions_parent(std::string_view text) {
  for (auto begin = text.find(kBegin); begin != std::string_view::npos;
       begin = text.find(kBegin, begin + 1))
    if (trimmed(text.substr(begin + kBegin.size())).starts_with(kParent)) return true;
  return false;
}

}  // namespace lockstep::spec
