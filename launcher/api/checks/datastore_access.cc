#include "launcher/api/checks/datastore_access.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/nearest.h"
#include "launcher/files/data/output_path.h"

namespace lockstep::launcher {
namespace {

constexpr std::string_view kDefaultName = "default_datastore";

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool may_use(const DatastoreView& store, const DatastoreUser& user) {
  if (store.users.empty() && store.projects.empty()) return true;
  return has(store.users, user.user) || has(store.projects, user.project);
}

bool is_admin(const State& state, const Caller& caller) {
  return is_allowed(state.principals(), caller, Permission::manage_users, {});
}

// Whether the caller may list it in one of their projects.
bool may_list(const State& state, const Caller& caller, const DatastoreView& store) {
  if (is_admin(state, caller) || may_use(store, {owner_of(caller), ""})) return true;
  const User* user = state.principals().user(owner_of(caller));
  return user != nullptr &&
         std::any_of(user->grants.begin(), user->grants.end(),
                     [&](const Grant& grant) { return has(store.projects, grant.project); });
}

std::vector<spec::Datastore>::const_iterator default_of(const Datastores& all) {
  return std::find_if(all.stores.begin(), all.stores.end(),
                      [](const spec::Datastore& store) { return store.is_default; });
}

Error no_such_datastore(const Datastores& all, const std::vector<std::string_view>& names,
                        const std::string& name) {
  const std::string lead = fmt::format("there is no datastore '{}' for you; ", name);
  if (const std::string near = nearest(name, names); !near.empty())
    return make_error(ErrorCode::not_found, lead + fmt::format("did you mean '{}'?", near));
  std::string text = lead + fmt::format(
                                "{}to add it, the launcher's operator writes into {}:\n  {}:\n"
                                "    directory: /A/FOLDER/THAT/EACH/NODE/HAS",
                                names.empty() ? ""
                                              : "`lockstep datastore list` shows those that there "
                                                "are; ",
                                all.file, name);
  if (default_of(all) == all.stores.end()) text += fmt::format("\n  default: {}", name);
  return make_error(ErrorCode::not_found, std::move(text));
}

Error refusal(const std::string& message) {
  return make_error(ErrorCode::invalid_argument, message);
}

}  // namespace

std::optional<DatastoreReference> datastore_reference(const std::string& path) {
  auto reference = parse_data_reference(path);
  if (!reference || !*reference) return std::nullopt;
  const auto* found = std::get_if<DatastoreReference>(&**reference);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

Result<spec::Datastore> find_datastore(const Datastores& all, const DatastoreUser& user,
                                       const std::string& name) {
  std::vector<std::string_view> names;
  for (const spec::Datastore& store : all.stores) {
    if (!may_use(store.view, user)) continue;
    if (store.view.name == name) return store;
    names.push_back(store.view.name);
  }
  const auto fallback = default_of(all);
  if (name == kDefaultName && fallback != all.stores.end() && may_use(fallback->view, user))
    return *fallback;
  return no_such_datastore(all, names, name);
}

Status take_place(const spec::Datastore& store, const DatastoreReference& reference,
                  DataInput& input) {
  if (input.mode == InputMode::rw_mount && store.view.read_only)
    return refusal(fmt::format("datastore '{}' is read-only; write mode: ro_mount or download",
                               store.view.name));
  if (input.type == InputType::uri_file && reference.path.empty())
    return refusal("it is a folder; write type: uri_folder, or name a file: …/paths/FILE");
  input.place = DatastorePath{store.view.name, store.view.directory, reference.path};
  if (const Status good = validate(*input.place); !good) return good;
  if (input.mode == InputMode::direct)
    input.address = input.place->whole();
  else if (input.type == InputType::uri_file)
    input.file = reference.path.substr(reference.path.rfind('/') + 1);
  return {};
}

Status check_remote(const spec::Datastore& store, const DataInput& input) {
  const bool is_copied = input.mode == InputMode::ro_mount || input.mode == InputMode::download;
  if (is_copied) return {};
  return refusal(
      fmt::format("datastore '{}' is a remote, so its files are copied to the nodes; "
                  "write mode: ro_mount or download",
                  store.view.name));
}

RemoteFiles files_of(const spec::Datastore& store, const DatastoreReference& reference) {
  RemoteFiles files{store.view.remote, store.config, reference.path,
                    "azureml://datastores/" + store.view.name};
  if (!reference.path.empty()) files.shown += "/paths/" + reference.path;
  return files;
}

namespace {

Status put_in_default(const Datastores& all, OutputSpec& output) {
  if (!spec::names_default_datastore(output.path)) return {};
  const auto found = default_of(all);
  if (found == all.stores.end())
    return refusal(
        "there is no default datastore; write the name of one, azureml://datastores/NAME/paths/… "
        "(`lockstep datastore list` shows them), or in a pipeline settings: {default_datastore: "
        "NAME}; for all jobs the operator writes 'default: NAME' into " +
        all.file);
  output.path = spec::with_default_datastore(std::move(output.path), found->view.name);
  return {};
}

Status take_place(const spec::Datastore& store, const DatastoreReference& reference,
                  OutputSpec& output) {
  if (store.view.read_only)
    return refusal(fmt::format("datastore '{}' is read-only", store.view.name));
  if (store.view.kind == DatastoreKind::rclone) {
    if (output.type == OutputType::uri_file && reference.path.empty())
      return refusal("it is a folder; name a file: …/paths/FILE");
    output.remote = store.view.name;
    return {};
  }
  output.place = DatastorePath{store.view.name, store.view.directory, reference.path};
  return validate(*output.place);
}

}  // namespace

Status place_output(const Datastores& all, const DatastoreUser& user, OutputSpec& output) {
  const auto place = [&]() -> Status {
    TRY(put_in_default(all, output));
    const auto reference = datastore_reference(output.path);
    if (!reference) return refusal("is not azureml://datastores/DATASTORE/paths/PATH");
    TRY_ASSIGN(const spec::Datastore store, find_datastore(all, user, reference->datastore));
    return take_place(store, *reference, output);
  };
  const Status placed = place();
  if (placed) return {};
  return make_error(placed.error().code, fmt::format("outputs.{}.path: {}: {}", output.name,
                                                     output.path, placed.error().message));
}

Result<RemoteFiles> remote_of(const Datastores& all, const WriteOutput& write) {
  const auto reference = datastore_reference(write.to);
  if (!reference) return refusal("its path names no datastore");
  TRY_ASSIGN(const spec::Datastore store,
             find_datastore(all, {write.user, write.project}, write.datastore));
  if (store.view.kind != DatastoreKind::rclone)
    return refusal(fmt::format("datastore '{}' is not a remote any more", store.view.name));
  if (store.view.read_only)
    return refusal(fmt::format("datastore '{}' is read-only now", store.view.name));
  return files_of(store, *reference);
}

Result<Datastores> shown_to(const State& state, const Caller& caller, Result<Datastores> all) {
  if (all || is_admin(state, caller)) return all;
  return make_error(ErrorCode::unavailable,
                    "the launcher's datastores.yml cannot be used; `lockstep datastore list` shows "
                    "an admin the reason");
}

ClientReply list_datastores(const State& state, const Caller& caller, Result<Datastores> all,
                            const ListDatastores& question) {
  all = shown_to(state, caller, std::move(all));
  if (!all) return Refused{all.error().code, all.error().message};
  DatastoresReply reply;
  std::vector<std::string_view> names;
  for (const spec::Datastore& store : all->stores) {
    if (!may_list(state, caller, store.view)) continue;
    names.push_back(store.view.name);
    if (!question.name.empty() && question.name != store.view.name) continue;
    reply.datastores.push_back(store.view);
    if (is_admin(state, caller)) continue;
    DatastoreView& shown = reply.datastores.back();
    shown.remote.clear();
    shown.users.clear();
    shown.projects.clear();
  }
  if (!question.name.empty() && reply.datastores.empty()) {
    const Error error = no_such_datastore(*all, names, question.name);
    return Refused{error.code, error.message};
  }
  return reply;
}

}  // namespace lockstep::launcher
