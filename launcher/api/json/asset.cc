#include "launcher/api/json/asset.h"

namespace lockstep::api {
namespace {

std::variant<InputType, ComponentType> type_of(const RegisteredAsset& asset) {
  if (asset.component) return *asset.component;
  return asset.type;
}

}  // namespace

void keys(const NameGrants& grants, See& see) {
  see("project", grants.project, "Whether all who may submit into its project may.");
  see("users", grants.users, "The users whom its owner named.");
}

void keys(const AssetView& view, See& see) {
  const RegisteredAsset& asset = view.asset;
  see.page("asset", "Data asset, model or component",
           "A version of registered data, of a model or of a component, as `show` of `lockstep "
           "data`, `model` and `component` prints it.");
  see("name", asset.name, "Its name.");
  see("version", asset.version, "Its version.");
  see("type", type_of(asset),
      "The first three are data, the last two components, the others models.");
  see("path", asset.path,
      "The files' origin: a path of the one who registered it, or a job's output; (hidden): a job "
      "that the asker may not see.");
  see("description", asset.description, "What its owner says about it.");
  see("tags", asset.tags, "Tags of its owner's.");
  see.object("creation_context", [&](See& see) {
    see("created_at", SetTime{view.created}, "When it was registered.");
    see("created_by", view.created_by, "Who registered it.");
  });
  see.object("lockstep", [&](See& see) {
    see("digest", asset.tree,
        "Its files: a tree of the launcher's store. Equal files have the same digest.");
    see("file", unless_empty(asset.file),
        "The name of the one file; null: it is a folder. Of a component: its file's path below the "
        "files' folder.");
    see("files_bytes", view.files,
        "Bytes that its files and the lists of its folders count for quotas; null: it was "
        "registered before they counted, and counts nothing.");
    see("project", view.project, "The project that the name belongs to.");
    see("owner", unless_empty(view.owner),
        "The user whose name it is: who registered its first version.");
    see("shared_with", view.grants, "Who may add versions to the name beside its owner.");
    see("archived", view.archived, "Whether lists leave it out, and @latest too.");
    see("made_by", unless_empty(view.made_by.value),
        "The job in whose outputs its files were; null: they came from elsewhere, or the asker may "
        "not see the job.");
    see("used_by", view.used_by,
        "The newest jobs that had it as an input and that the asker may read, at most 20; null in "
        "a list, and of components.");
    // The command line adds it, which has the file.
    see.only_if(false, "definition", "",
                "The text of a component's file; only in `component show`.");
  });
}

}  // namespace lockstep::api
