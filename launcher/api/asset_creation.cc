
#include <fmt/format.h>

#include "launcher/api/service.h"

namespace lockstep::launcher {

void Service::create_asset(const Asker& asker, CreateAsset create) {
  if (const auto low = ports_.launcher.low_space(); !low.empty())
    return refuse(asker, ErrorCode::resource_exhausted, low);
  const auto reference = parse_data_reference(create.asset.path);
  if (!reference) return refuse(asker, reference.error().code, reference.error().message);
  if (*reference) return create_from(asker, std::move(create), **reference);
  if (!create.asset.tree)
    return refuse(asker, ErrorCode::invalid_argument, "path: the asset has no files");
  const Digest root = *create.asset.tree;
  check_trees(asker, {root}, [this, asker, create = std::move(create)](Result<bool> whole) {
    if (!whole) return refuse(asker, whole.error().code, whole.error().message);
    if (!*whole)
      return refuse(asker, ErrorCode::not_found,
                    "path: the launcher does not have all of these files; create it again");
    register_asset(asker, create);
  });
}

// Registers an asset. The tree is complete, and the asker may register it.
void Service::register_asset(const Asker& asker, CreateAsset create) {
  const Digest tree = *create.asset.tree;
  ports_.blobs.measure(asker.caller, tree,
                       [this, asker, create = std::move(create)](Result<Bytes> size) {
                         // Too late: its client asks again.
                         if (asker.deadline < ports_.clock.now()) return;
                         if (!size)
                           return refuse(asker, size.error().code, "path: " + size.error().message);
                         ports_.core.feed(CreateAssetInput{expect_reply(asker), create.asset,
                                                           create.project, asker.caller, *size});
                       });
}

void Service::create_from(const Asker& asker, CreateAsset create, const DataReference& reference) {
  if (const auto* stored = std::get_if<DatastoreReference>(&reference))
    return fetch_asset(asker, std::move(create), *stored);
  const auto* output = std::get_if<JobOutputReference>(&reference);
  const auto fail = [this, asker, path = create.asset.path](const Error& error) {
    refuse(asker, error.code, fmt::format("path: {}: {}", path, error.message));
  };
  if (output == nullptr)
    return fail(
        make_error(ErrorCode::unsupported, "it is registered already; name it in a job as it is"));
  const auto question = question_of(state(), asker.caller, create.asset.type, *output);
  if (!question) return fail(question.error());
  ports_.blobs.find(
      asker.caller, *question,
      [this, asker, fail, create = std::move(create)](Result<snapshot::Subtree> found) mutable {
        if (asker.deadline < ports_.clock.now()) return;  // too late: its client asks again
        if (!found) return fail(found.error());
        RegisteredAsset& asset = create.asset;
        if (const Status taken = take_found(*found, asset.type, asset.tree, asset.file); !taken)
          return fail(taken.error());
        register_asset(asker, std::move(create));
      });
}

// Fetches an asset's files. They are copied, because files of a directory may change and a version
// never does.
void Service::fetch_asset(const Asker& asker, CreateAsset create,
                          const DatastoreReference& reference) {
  const auto fail = [this, path = create.asset.path](const Asker& to, const Error& error) {
    refuse(to, error.code, fmt::format("path: {}: {}", path, error.message));
  };
  const auto store = datastore_for(asker.caller, create.project, reference.datastore);
  if (!store) return fail(asker, store.error());
  if (store->view.kind == DatastoreKind::directory)
    return fail(asker, make_error(ErrorCode::unsupported,
                                  "its files stay in the datastore's directory and can change; "
                                  "name them in a job as they are, or register a copy: --path "
                                  "FOLDER"));
  const auto held = std::make_shared<CreateAsset>(std::move(create));
  fetch_for(asker, files_of(*store, reference),
            [this, held, fail](const Asker& waited, Result<snapshot::Subtree> found) {
              RegisteredAsset& asset = held->asset;
              const Status taken = found ? take_found(*found, asset.type, asset.tree, asset.file)
                                         : Status(found.error());
              if (!taken) return fail(waited, taken.error());
              register_asset(waited, std::move(*held));
            });
}

}  // namespace lockstep::launcher
