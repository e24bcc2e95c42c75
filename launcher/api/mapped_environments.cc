#include "launcher/api/mapped_environments.h"

#include <fmt/format.h>

#include <vector>

#include "launcher/api/queries/environment_queries.h"
#include "launcher/files/environment/environment_reference.h"

namespace lockstep::launcher {
namespace {

constexpr std::string_view kRegistries = "azureml://registries/";
// The beginning of the names of Azure's own environments.
constexpr std::string_view kCurated = "AzureML-";

struct WantedEnvironment {
  EnvironmentName name;
  std::vector<std::string> keys;  // keys of the map, in the order in which they are tried
};

// The end of a URL: ".../environments/NAME/labels/latest" or ".../versions/VERSION". Its form was
// checked.
WantedEnvironment of_registry(const std::string& url) {
  const auto environments = url.find("/environments/") + std::string_view("/environments/").size();
  const auto end = url.find('/', environments);
  const std::string name = url.substr(environments, end - environments);
  const bool versioned = url.compare(end, 10, "/versions/") == 0;
  return {{name, versioned ? url.substr(end + 10) : ""}, {url, name}};
}

WantedEnvironment of_name(const std::string& reference) {
  const EnvironmentName name = parse_environment_name(reference);
  return {name, {name.version.empty() ? name.name : name.name + ":" + name.version}};
}

// A view under the name that was requested; the name in the map's file does not matter.
EnvironmentView mapped(const State& state, const Viewer& viewer, const WantedEnvironment& wanted,
                       RegisteredEnvironment found) {
  EnvironmentSpec& spec = found.spec;
  spec.name = wanted.name.name;
  if (!wanted.name.version.empty()) spec.version = wanted.name.version;
  const Digest definition = digest_of(spec.definition);
  EnvironmentView view =
      view_of(state, viewer, {std::move(found), definition, {}, "environments.map", ""});
  view.project.clear();  // the map belongs to no project
  view.owner.clear();
  view.archived = false;
  view.grants = {};
  return view;
}

// An error about the map. An error in a file begins with its path, an error of reading it with a
// verb.
Error unreadable(const Error& error) {
  const bool is_verb = error.message.starts_with("open ") || error.message.starts_with("read ");
  return make_error(error.code,
                    (is_verb ? "the launcher could not " : "the launcher's ") + error.message);
}

}  // namespace

ClientReply with_map(const State& state, const OperatorFiles& files, const std::string& reference,
                     const Caller& caller) {
  const Viewer viewer(state, caller);
  const bool of_azure = reference.starts_with(kRegistries);
  if (of_azure)
    if (const auto form = spec::parse_environment_reference(reference); !form)
      return Refused{form.error().code, form.error().message};
  ClientReply registered = Refused{};
  if (!of_azure) {
    registered = show_environment(state, reference, viewer);
    if (std::holds_alternative<EnvironmentReply>(registered)) return registered;
  }
  const WantedEnvironment wanted = of_azure ? of_registry(reference) : of_name(reference);
  auto found = files.find_environment(wanted.keys);
  if (!found) {
    const Error error = unreadable(found.error());
    return Refused{error.code, error.message};
  }
  if (*found) return EnvironmentReply{mapped(state, viewer, wanted, **std::move(found))};
  const bool is_curated =
      wanted.name.name.starts_with(kCurated) && state.registered().count(wanted.name.name) == 0;
  if (!of_azure && !is_curated) return registered;
  return Refused{
      ErrorCode::not_found,
      fmt::format(
          "'{0}' is an environment of Azure, and this launcher has no environment for it. Add this "
          "line to {1} on the launcher's machine:\n  {0}: {2}.yml\nand write {2}.yml, an "
          "environment file as for `lockstep environment create -f`, into the same folder",
          wanted.keys.front(), files.environments_map(), wanted.name.name)};
}

Result<spec::MappedImages> mapped_images(const OperatorFiles& files,
                                         const std::set<std::string>& images) {
  auto mapped = files.find_images(images);
  if (!mapped) return unreadable(mapped.error());
  return mapped;
}

}  // namespace lockstep::launcher
