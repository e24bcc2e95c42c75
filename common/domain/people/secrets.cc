#include "common/domain/people/secrets.h"

#include <cctype>

namespace lockstep {

namespace {

constexpr std::string_view kClose = "}}";

Error invalid(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

// An expression in a text: its range [begin, end) and the secret's name.
struct Expression {
  std::size_t begin = 0, end = 0;
  std::string name;
};

Result<std::optional<Expression>> next_in(const std::string& text, std::size_t from) {
  const std::size_t begin = text.find(kSecretOpen, from);
  if (begin == std::string::npos) return std::optional<Expression>();
  const std::size_t name = begin + kSecretOpen.size();
  const std::size_t close = text.find(kClose, name);
  if (close == std::string::npos) return invalid("'${{secrets.' has no closing '}}'");
  Expression found{begin, close + kClose.size(), text.substr(name, close - name)};
  TRY(validate_secret_name(found.name));
  return std::optional<Expression>(std::move(found));
}

}  // namespace

Status validate_secret_name(const std::string& name) {
  bool good = !name.empty() && name.size() <= kMaxSecretNameBytes &&
              std::isdigit(static_cast<unsigned char>(name[0])) == 0;
  for (const char c : name)
    good = good && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_');
  if (good) return {};
  return invalid("'" + name + "' is not a secret's name: 1 to " +
                 std::to_string(kMaxSecretNameBytes) +
                 " letters, digits or '_', not beginning with a digit");
}

Status validate_secret_value(const std::string& value) {
  if (value.empty()) return invalid("the secret is empty");
  if (value.find('\0') != std::string::npos)
    return invalid(
        "the secret contains a NUL byte, which a variable cannot hold; encode it, e.g. as base64");
  if (value.size() <= kMaxSecretBytes) return {};
  return invalid("the secret has " + std::to_string(value.size()) + " bytes; at most " +
                 std::to_string(kMaxSecretBytes) + " are possible");
}

std::string secret_expression(std::string_view name) {
  return std::string(kSecretOpen) + std::string(name) + std::string(kClose);
}

Result<std::set<std::string>> secrets_named_in(const std::string& text) {
  std::set<std::string> names;
  for (std::size_t at = 0;;) {
    TRY_ASSIGN(auto found, next_in(text, at));
    if (!found) return names;
    at = found->end;
    names.insert(std::move(found->name));
  }
}

std::set<std::string> secrets_of(const std::map<std::string, std::string>& variables) {
  std::set<std::string> names;
  for (const auto& [variable, value] : variables)
    if (auto found = secrets_named_in(value)) names.merge(*found);
  return names;
}

Result<std::string> put_in_secrets(const std::string& text, const SecretValues& values) {
  std::string out;
  for (std::size_t at = 0;;) {
    TRY_ASSIGN(const auto found, next_in(text, at));
    if (!found) return out + text.substr(at);
    const auto value = values.find(found->name);
    if (value == values.end())
      return make_error(ErrorCode::not_found,
                        "the secret '" + found->name +
                            "' no longer exists; set it again with `lockstep secret set " +
                            found->name + "` and submit the job again");
    out += text.substr(at, found->begin - at) + value->second;
    at = found->end;
  }
}

}  // namespace lockstep
