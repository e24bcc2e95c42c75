#include "launcher/files/environment/environment_reference.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "common/domain/environment/definition.h"

namespace lockstep::spec {
namespace {

constexpr std::string_view kScheme = "azureml:";
constexpr std::string_view kRegistries = "azureml://registries/";

Error wrong(std::string message, ErrorCode code = ErrorCode::invalid_argument) {
  return make_error(code, std::move(message));
}

Status check(std::string_view what, std::string_view name) {
  return validate_environment_name(fmt::format("an environment's {}", what), std::string(name));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  while (true) {
    const auto end = text.find(separator);
    words.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end + 1);
  }
}

Result<std::string> parse_registry(const std::string& url) {
  const auto words = split(std::string_view(url).substr(kRegistries.size()), '/');
  const bool shaped = words.size() == 5 && words[1] == "environments" &&
                      (words[3] == "labels" || words[3] == "versions");
  if (!shaped)
    return wrong(fmt::format(
        "'{}' is not the address of an environment in a registry; write "
        "azureml://registries/REGISTRY/environments/NAME/versions/VERSION, or …/labels/latest",
        url));
  TRY(check("registry", words[0]));
  TRY(check("name", words[2]));
  TRY(check(words[3] == "labels" ? "label" : "version", words[4]));
  if (words[3] == "labels" && words[4] != "latest")
    return wrong(fmt::format("the label '{}' is not supported yet; use 'latest'", words[4]),
                 ErrorCode::unsupported);
  return url;
}

}  // namespace

Result<std::string> parse_environment_reference(const std::string& text) {
  if (text.starts_with(kRegistries)) return parse_registry(text);
  std::string_view name = text;
  if (name.starts_with(kScheme)) name.remove_prefix(kScheme.size());
  if (name.starts_with('/'))
    return wrong(fmt::format("'{}' is not supported yet; only addresses in a registry are: "
                             "{}REGISTRY/environments/NAME/versions/VERSION",
                             text, kRegistries),
                 ErrorCode::unsupported);
  if (const auto at = name.find('@'); at != std::string_view::npos) {
    TRY(check("name", name.substr(0, at)));
    const std::string_view label = name.substr(at + 1);
    if (label != "latest")
      return wrong(
          fmt::format("'{}': the label '{}' is not supported yet; use @latest", text, label),
          ErrorCode::unsupported);
    return std::string(name);
  }
  const auto colon = name.find(':');
  TRY(check("name", name.substr(0, colon)));
  if (colon == std::string_view::npos)
    return wrong(fmt::format("'{0}' has no version; write {1}:VERSION or {1}@latest", text, name));
  TRY(check("version", name.substr(colon + 1)));
  return std::string(name);
}

bool looks_like_file(const std::string& text) {
  if (text.starts_with(kScheme)) return false;
  return text.find('/') != std::string::npos || text.ends_with(".yml") || text.ends_with(".yaml") ||
         text.ends_with(".txt");
}

std::optional<std::string> marked_file(const std::string& text) {
  constexpr std::string_view kFile = "file:";
  if (!text.starts_with(kFile)) return std::nullopt;
  const std::string path = text.substr(kFile.size());
  return path.starts_with("///") ? path.substr(2) : path;
}

}  // namespace lockstep::spec
