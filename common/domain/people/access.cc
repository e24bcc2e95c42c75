#include "common/domain/people/access.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep {
namespace {

bool is_word(std::string_view text, std::string_view inner) {
  const auto alnum = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && (alnum(text[0]) || text[0] == '_') &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return alnum(c) || inner.find(c) != std::string_view::npos; });
}

}  // namespace

Word describe(Role role) {
  switch (role) {
    case Role::viewer: return {1, "viewer"};
    case Role::submitter: return {2, "submitter"};
    case Role::operator_: return {3, "operator"};
    case Role::admin: return {4, "admin"};
    case Role::priority: return {5, "priority"};
  }
  return {};
}
std::string_view to_string(Role role) { return describe(role).word; }
std::optional<Role> role_from(std::string_view word) { return with_word<Role>(word); }

Word describe(Approval approval) {
  switch (approval) {
    case Approval::as_configured: return {0, "as_configured"};
    case Approval::required: return {1, "required"};
    case Approval::waived: return {2, "waived"};
  }
  return {};
}

bool is_of_project(Role role) {
  return role == Role::viewer || role == Role::submitter || role == Role::priority;
}

std::string to_string(const Grant& grant) {
  if (!is_of_project(grant.role)) return std::string(to_string(grant.role));
  return fmt::format("{} in {}", to_string(grant.role), grant.project);
}

Status validate_user_name(const std::string& name) {
  if (name.size() <= kMaxUserNameBytes && is_word(name, "._-")) return {};
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("'{}' is not a user name: write 1 to {} of letters, digits, '.', "
                                "'_' and '-', beginning with a letter, a digit or '_'",
                                name, kMaxUserNameBytes));
}

Status validate_known_user_name(const std::string& name) {
  const auto tilde = name.find('~');
  if (tilde == name.npos) return validate_user_name(name);
  const std::string number = name.substr(tilde + 1);
  const bool is_number = !number.empty() && number.size() <= 6 &&
                         number.find_first_not_of("0123456789") == number.npos;
  return validate_user_name(is_number ? name.substr(0, tilde) : name);
}

Status validate_project_name(const std::string& name) {
  if (name.size() <= kMaxProjectNameBytes && is_word(name, "._-")) return {};
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("'{}' is not a project name: write 1 to {} of letters, digits, "
                                "'.', '_' and '-', beginning with a letter, a digit or '_'",
                                name, kMaxProjectNameBytes));
}

}  // namespace lockstep
