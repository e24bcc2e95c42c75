#include "launcher/cli/text/asset_view.h"

#include <fmt/format.h>

#include "launcher/cli/terminal/output.h"

namespace lockstep::cli {
namespace {

void add_line(std::string& text, std::string_view label, const std::string& value) {
  if (value.empty()) return;
  text += fmt::format("{:<16}{}\n", std::string(label) + ":", in_lines(value, 16));
}

}  // namespace

std::string grants_text(const NameGrants& grants) {
  std::string text;
  for (const std::string& user : grants.users) text += (text.empty() ? "" : ", ") + user;
  if (grants.project) text += text.empty() ? "all of its project" : ", all of its project";
  return text;
}

std::string asset_table(AssetKind kind, const std::vector<AssetView>& assets) {
  if (assets.empty())
    return fmt::format("no {0}s; make one with: lockstep {1} create {2}\n", noun_of(kind),
                       to_string(kind),
                       kind == AssetKind::component ? "-f FILE" : "-n NAME --path PATH");
  Table table({"NAME", "VERSION", "TYPE", "SIZE", "CREATED", "BY", "FROM"});
  for (const AssetView& view : assets) {
    const RegisteredAsset& asset = view.asset;
    table.add({asset.name, asset.version + (view.archived ? " (archived)" : ""),
               std::string(type_word(asset)), view.files ? to_string(*view.files) : "-",
               to_string(view.created), view.created_by, asset.path});
  }
  return table.text();
}

std::string asset_text(const AssetView& view) {
  const RegisteredAsset& asset = view.asset;
  std::string text, tags, uses;
  for (const auto& [key, value] : asset.tags)
    tags += fmt::format("{}{}={}", tags.empty() ? "" : ", ", key, value);
  add_line(text, "name", asset.name);
  add_line(text, "version", asset.version + (view.archived ? " (archived)" : ""));
  add_line(text, "type", std::string(type_word(asset)));
  add_line(text, "description", asset.description);
  add_line(text, "tags", tags);
  add_line(text, "from", asset.path);
  add_line(text, "file", asset.file);
  if (asset.tree) add_line(text, "digest", asset.tree->hex());
  if (view.files) add_line(text, "size", to_string(*view.files));
  add_line(text, "project", view.project);
  add_line(text, "owner", view.owner);
  add_line(text, "shared with", grants_text(view.grants));
  add_line(text, "created", to_string(view.created) + " by " + view.created_by);
  if (!view.made_by.value.empty()) add_line(text, "made by", "job " + view.made_by.value);
  if (view.used_by)
    for (const JobId& job : *view.used_by) uses += (uses.empty() ? "" : ", ") + job.value;
  add_line(text, "used by", uses);
  add_line(text, "in a job file",
           (asset.component ? "component: azureml:" : "path: azureml:") + reference_of(asset));
  return text;
}

}  // namespace lockstep::cli
