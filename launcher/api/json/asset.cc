#include "launcher/api/json/asset.h"

#include "launcher/api/json/value.h"

namespace lockstep::api {

Json to_json(const NameGrants& grants) {
  Json users = Json::array();
  for (const std::string& user : grants.users) users.push_back(user);
  return {{"project", grants.project}, {"users", std::move(users)}};
}

Json to_json(const AssetView& view) {
  const RegisteredAsset& asset = view.asset;
  Json json;
  json["name"] = asset.name;
  json["version"] = asset.version;
  json["type"] = std::string(type_word(asset));
  json["path"] = asset.path;
  json["description"] = asset.description;
  json["tags"] = map_of(asset.tags);
  json["creation_context"] = {{"created_at", to_string(view.created)},
                              {"created_by", view.created_by}};
  Json uses = nullptr;
  if (view.used_by) {
    uses = Json::array();
    for (const JobId& job : *view.used_by) uses.push_back(job.value);
  }
  json["lockstep"] = {{"digest", asset.tree ? Json(asset.tree->hex()) : Json(nullptr)},
                      {"file", text_or_null(asset.file)},
                      {"files_bytes", view.files ? Json(view.files->count) : Json(nullptr)},
                      {"project", view.project},
                      {"owner", text_or_null(view.owner)},
                      {"shared_with", to_json(view.grants)},
                      {"archived", view.archived},
                      {"made_by", text_or_null(view.made_by.value)},
                      {"used_by", std::move(uses)}};
  return json;
}

Json to_json(const std::vector<AssetView>& views) { return list_of<AssetView>(views, to_json); }

}  // namespace lockstep::api
