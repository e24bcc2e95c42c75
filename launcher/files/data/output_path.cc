#include "launcher/files/data/output_path.h"

#include <fmt/format.h>

#include "common/base/quoted_name.h"
#include "common/base/trimmed.h"
#include "common/domain/data/data_reference.h"

namespace lockstep::spec {
namespace {

constexpr std::string_view kDatastores = "azureml://datastores/";

// "${{ name }}" becomes "${{name}}". Other expressions have no value here.
Result<std::string> with_plain_expressions(const std::string& path) {
  std::string plain;
  for (std::size_t from = 0;;) {
    const auto open = path.find("${{", from);
    const auto close = path.find("}}", std::min(open, path.size()));
    if (open == std::string::npos) return plain + path.substr(from);
    const std::string_view name =
        trimmed(std::string_view(path).substr(open + 3, std::min(close, path.size()) - open - 3));
    const bool is_default = name == "default_datastore" && path.substr(0, open) == kDatastores;
    if (close == std::string::npos || (name != "name" && name != "output_name" && !is_default))
      return make_error(
          ErrorCode::invalid_argument,
          fmt::format("'{}' has no value {}; ${{{{name}}}} (the job's) and ${{{{output_name}}}} "
                      "have, and as the datastore's name ${{{{default_datastore}}}}",
                      path.substr(open, std::min(close, path.size()) - open + 2),
                      name == "default_datastore" ? "here" : "in a path"));
    plain += path.substr(from, open - from) + fmt::format("${{{{{}}}}}", name);
    from = close + 2;
  }
}

}  // namespace

bool names_default_datastore(std::string_view path) {
  return path.starts_with(kDatastores) &&
         path.substr(kDatastores.size()).starts_with(kDefaultDatastore);
}

std::string with_default_datastore(std::string path, std::string_view name) {
  if (names_default_datastore(path))
    path.replace(kDatastores.size(), kDefaultDatastore.size(), name);
  return path;
}

Result<std::string> read_output_path(const Source& source, const YamlNode& node,
                                     const std::string& shown) {
  const auto fail = [&](const std::string& message) {
    return source.error(node.place, fmt::format("'{}': {}", shown, message));
  };
  const auto plain = with_plain_expressions(node.text);
  if (!plain) return fail(plain.error().message);
  const auto reference = parse_data_reference(with_default_datastore(*plain, "default"));
  if (reference && *reference && std::holds_alternative<DatastoreReference>(**reference))
    return *plain;
  return fail(fmt::format(
      "{} is not azureml://datastores/NAME/paths/PATH; without a path the launcher keeps the "
      "output, and `lockstep job download` fetches it",
      quoted_name(node.text)));
}

}  // namespace lockstep::spec
