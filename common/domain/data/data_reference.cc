#include "common/domain/data/data_reference.h"

#include <algorithm>
#include <array>

#include "common/base/nearest.h"
#include "common/base/quoted_name.h"
#include "common/domain/data/datastore.h"
#include "common/domain/data/output_name.h"
#include "common/domain/environment/definition.h"
#include "common/grammar/job_name.h"

namespace lockstep {
namespace {

constexpr std::string_view kScheme = "azureml:";
constexpr std::string_view kJobs = "azureml://jobs/";
constexpr std::string_view kDatastores = "azureml://datastores/";
constexpr std::string_view kSubscriptions = "azureml://subscriptions/";
constexpr std::string_view kOutputs = "/outputs/";
constexpr std::string_view kPaths = "/paths/";

Error invalid_reference(const std::string& message) {
  return make_error(ErrorCode::invalid_argument, message);
}

// The path without "/" at its ends; an error if it leads out of its tree.
Result<std::string> clean_path(std::string_view path) {
  std::string clean;
  while (!path.empty()) {
    const auto slash = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (name.empty() || name == ".") continue;
    if (name == "..") return invalid_reference("the part after /paths/ may not have '..'");
    if (!clean.empty()) clean += '/';
    clean += name;
  }
  return clean;
}

Result<std::optional<DataReference>> parse_job_output(std::string_view text) {
  const auto malformed = [&] {
    return invalid_reference(quoted_name(std::string(text)) +
                             " is not azureml://jobs/JOB/outputs/OUTPUT[/paths/PATH]");
  };
  std::string_view rest = text.substr(kJobs.size());
  const auto outputs = rest.find(kOutputs);
  if (outputs == std::string_view::npos) return malformed();
  JobOutputReference reference;
  reference.job = JobId(std::string(rest.substr(0, outputs)));
  if (!validate_job_name(reference.job.value)) return malformed();
  rest.remove_prefix(outputs + kOutputs.size());
  const auto paths = std::min(rest.find(kPaths), rest.size());
  reference.output = rest.substr(0, paths);
  while (reference.output.ends_with('/')) reference.output.pop_back();
  if (!valid_output_name(reference.output)) return malformed();
  if (paths < rest.size()) {
    TRY_ASSIGN(reference.path, clean_path(rest.substr(paths + kPaths.size())));
  }
  return std::optional<DataReference>(std::move(reference));
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// Reads a datastore's reference. `rest`: the text after ".../datastores/".
Result<std::optional<DataReference>> parse_datastore(std::string_view text, std::string_view rest) {
  const auto paths = std::min(rest.find(kPaths), rest.size());
  DatastoreReference reference;
  reference.datastore = rest.substr(0, paths);
  while (paths == rest.size() && reference.datastore.ends_with('/')) reference.datastore.pop_back();
  if (!valid_datastore_name(reference.datastore) || has_control_character(rest))
    return invalid_reference(quoted_name(std::string(text)) +
                             " is not azureml://datastores/DATASTORE/paths/PATH");
  if (paths < rest.size()) {
    TRY_ASSIGN(reference.path, clean_path(rest.substr(paths + kPaths.size())));
  }
  return std::optional<DataReference>(std::move(reference));
}

// Reads azureml://subscriptions/ID/resourcegroups/NAME[/providers/…]/workspaces/NAME/datastores/…:
// the launcher takes the place of the workspace, whatever its name.
Result<std::optional<DataReference>> parse_long_form(std::string_view text) {
  constexpr std::string_view kWorkspaces = "/workspaces/", kStores = "/datastores/";
  const auto workspaces = text.find(kWorkspaces);
  const auto stores = text.find(kStores, std::min(workspaces, text.size()));
  if (stores == std::string_view::npos)
    return make_error(ErrorCode::unsupported, quoted_name(std::string(text)) +
                                                  " is not supported yet; of a workspace only "
                                                  "…/datastores/DATASTORE/paths/PATH is");
  return parse_datastore(text, text.substr(stores + kStores.size()));
}

// The error for addresses such as azureml://datastore/NAME/… or azureml:/jobs/…, with the known
// form that the address resembles, if any.
Error not_known(std::string_view text) {
  std::string_view rest = text.substr(kScheme.size());
  rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
  const std::string_view word = rest.substr(0, rest.find('/'));
  const std::string shown = quoted_name(std::string(text));
  static constexpr std::array<std::string_view, 3> kKnown{"datastores", "jobs", "subscriptions"};
  const std::string near = nearest(word, kKnown);
  if (near == "datastores")
    return invalid_reference(shown + " is not azureml://datastores/DATASTORE/paths/PATH");
  if (near == "jobs") return invalid_reference(shown + " is not azureml://jobs/JOB/outputs/OUTPUT");
  return make_error(ErrorCode::unsupported,
                    shown +
                        " is not supported yet; write azureml:NAME:VERSION, "
                        "azureml://datastores/DATASTORE/paths/PATH, "
                        "azureml://jobs/JOB/outputs/OUTPUT, or a local path");
}

Result<std::optional<DataReference>> parse_asset(std::string_view text) {
  std::string_view rest = text.substr(kScheme.size());
  AssetReference reference;
  const auto colon = rest.find(':');
  const auto at = rest.find('@');
  reference.name = rest.substr(0, std::min(colon, at));
  if (colon < at) {
    reference.version = rest.substr(colon + 1);
  } else {
    reference.label = at == std::string_view::npos ? "latest" : std::string(rest.substr(at + 1));
  }
  const bool is_named = validate_environment_name("", reference.name).has_value();
  const bool has_version = validate_environment_name("", reference.version).has_value();
  if (!is_named || (reference.label.empty() && !has_version))
    return invalid_reference(quoted_name(std::string(text)) +
                             " is not azureml:NAME:VERSION or azureml:NAME@latest");
  if (reference.version.empty() && reference.label != "latest")
    return make_error(ErrorCode::unsupported, "label " + quoted_name(reference.label) +
                                                  " is not supported yet; only @latest is");
  return std::optional<DataReference>(std::move(reference));
}

}  // namespace

std::string to_string(const AssetReference& reference) {
  std::string text(kScheme);
  text += reference.name;
  if (reference.version.empty()) return text + "@" + reference.label;
  return text + ":" + reference.version;
}

Result<std::optional<DataReference>> parse_data_reference(std::string_view text) {
  if (!text.starts_with(kScheme)) return std::optional<DataReference>();
  if (text.starts_with(kJobs)) return parse_job_output(text);
  if (text.starts_with(kDatastores)) return parse_datastore(text, text.substr(kDatastores.size()));
  if (text.starts_with(kSubscriptions)) return parse_long_form(text);
  if (text.starts_with("azureml:/")) return not_known(text);
  return parse_asset(text);
}

}  // namespace lockstep
