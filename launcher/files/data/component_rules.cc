#include "launcher/files/data/component_rules.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/base/quoted_name.h"
#include "common/domain/people/secrets.h"

namespace lockstep::spec {

Status check_is_own_file(const Source& source, const Place& place, const std::string& path) {
  return check_is_own_file(source.of(place).folder, source, place, path);
}

Status check_is_own_file(const std::string& folder, const Source& source, const Place& place,
                         const std::string& path) {
  namespace fs = std::filesystem;
  if (folder.empty()) return {};
  std::error_code failure;
  const std::string bound = fs::canonical(folder, failure).string();
  const std::string real = failure ? "" : fs::canonical(path, failure).string();
  if (!failure && (real == bound || real.starts_with(bound + "/"))) return {};
  return source.error(
      place,
      fmt::format("the registered component names {}, which is not one of its own files; give "
                  "other files to its inputs",
                  quoted_name(path)),
      ErrorCode::permission_denied);
}

Status check_may_read(const Source& source, const Place& place, std::string_view what) {
  if (!source.of(place).is_registered) return {};
  return source.error(
      place,
      fmt::format(
          "a registered component may not read {}, because each user of the component would "
          "read it with their own rights; declare an input for it, or register the files "
          "with `lockstep data create` and write azureml:NAME:VERSION",
          what),
      ErrorCode::permission_denied);
}

Status check_has_no_secret(const Source& source, const YamlEntry& variable) {
  const Place& place = variable.value.place;
  if (!source.of(place).is_registered) return {};
  const auto secrets = secrets_of({{variable.key, variable.value.text}});
  if (secrets.empty()) return {};
  return source.error(
      place,
      fmt::format("'environment_variables.{0}': a registered component may not name a secret, "
                  "because it would be a secret of whoever uses the component; write "
                  "'environment_variables: {{{0}: ${{{{secrets.{1}}}}}}}' in the step that uses it",
                  variable.key, *secrets.begin()),
      ErrorCode::permission_denied);
}

}  // namespace lockstep::spec
