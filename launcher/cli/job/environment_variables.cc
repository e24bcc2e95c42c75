#include "launcher/cli/job/environment_variables.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "common/domain/people/secrets.h"
#include "common/io/file_system.h"

namespace lockstep::cli {
namespace {

constexpr Bytes kLargest = mebibytes(2);
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Error wrong(std::string message) {
  return make_error(ErrorCode::invalid_argument, "run: " + std::move(message));
}

Status take_ours(const std::string& name, const std::string& where, Variables& variables) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr)
    return wrong(fmt::format("{} {}: this variable is not set here", where, name));
  variables[name] = value;
  return {};
}

Status read_line(std::string_view line, const std::string& where, Variables& variables) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto start = line.find_first_not_of(" \t");
  if (start == line.npos || line[start] == '#') return {};
  line.remove_prefix(start);
  const auto equals = line.find('=');
  const std::string name(line.substr(0, equals));
  if (name.empty() || name.find_first_of(" \t") != name.npos)
    return wrong(where + " is neither NAME=VALUE nor NAME (to pass on its value in this shell)");
  if (line.find('\0') != line.npos) return wrong(where + " holds a zero byte");
  if (equals == line.npos) return take_ours(name, where, variables);
  variables[name] = std::string(line.substr(equals + 1));
  return {};
}

}  // namespace

Status read_env_file(const std::string& path, Variables& variables) {
  const auto text = io::read_file(path, kLargest);
  if (!text) return text.error().within("run: --env-file");
  std::string_view rest = *text;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  for (int number = 1; !rest.empty(); ++number) {
    const auto end = rest.find('\n');
    TRY(read_line(rest.substr(0, end), fmt::format("--env-file {}:{}", path, number), variables));
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  }
  return {};
}

Status read_secret_words(const std::vector<std::string>& words, Variables& variables) {
  for (const std::string& word : words) {
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (name.empty())
      return wrong(fmt::format("--secret '{}' is not of the form VARIABLE=SECRET", word));
    const std::string secret = equals == std::string::npos ? name : word.substr(equals + 1);
    if (const auto good = validate_secret_name(secret); !good)
      return good.error().within("--secret");
    variables[name] = secret_expression(secret);
  }
  return {};
}

Status read_env_words(const std::vector<std::string>& words, Variables& variables) {
  for (const std::string& word : words) {
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (name.empty()) return wrong(fmt::format("--env '{}' is not of the form NAME=VALUE", word));
    if (equals == std::string::npos)
      TRY(take_ours(name, "--env", variables));
    else
      variables[name] = word.substr(equals + 1);
  }
  return {};
}

}  // namespace lockstep::cli
