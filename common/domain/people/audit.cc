#include "common/domain/people/audit.h"

namespace lockstep {

Word describe(AuditOutcome outcome) {
  switch (outcome) {
    case AuditOutcome::done: return {1, "done"};
    case AuditOutcome::refused: return {2, "refused"};
    case AuditOutcome::read: return {3, "read"};
    case AuditOutcome::note: return {4, "note"};
  }
  return {};
}
std::string_view to_string(AuditOutcome outcome) { return describe(outcome).word; }

namespace {

// Returns the next part before a separator; `rest` then begins after it.
std::string_view next_part(std::string_view* rest, std::string_view separator) {
  const auto at = rest->find(separator);
  const std::string_view part = rest->substr(0, at);
  *rest = at == rest->npos ? std::string_view() : rest->substr(at + separator.size());
  return part;
}

bool has_word(std::string_view text, std::string_view word) {
  while (!text.empty())
    if (next_part(&text, " ") == word) return true;
  return false;
}

bool is_called(std::string_view object, std::string_view name) {
  const auto space = object.find(' ');
  const std::string_view bare = space == object.npos ? object : object.substr(space + 1);
  return object == name || bare == name || object.substr(0, object.rfind(':')) == name ||
         bare.substr(0, bare.rfind(':')) == name;
}

}  // namespace

bool has_verb(const AuditEntry& entry, std::string_view verb) {
  while (!verb.empty()) {
    const std::string_view word = next_part(&verb, " ");
    if (!word.empty() && !has_word(entry.what, word)) return false;
  }
  return true;
}

bool has_object(const AuditEntry& entry, std::string_view object) {
  if (object.empty()) return true;
  std::string_view rest = entry.object;
  while (!rest.empty())
    if (is_called(next_part(&rest, ", "), object)) return true;
  return false;
}

}  // namespace lockstep
