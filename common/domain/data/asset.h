#pragma once
// Registered data and models: a tree of files under a name and a version, which jobs read as inputs
// (docs/decisions/050-registered-data.md). Also registered components, whose tree is a component's
// file and the files that it names (docs/decisions/060-registered-components.md). A version never
// changes but for its archived flag, its description and its tags. The files themselves are in the
// launcher's blob store.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/digest.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/table.h"
#include "common/base/time.h"
#include "common/base/word.h"
#include "common/domain/data/inputs.h"
#include "common/domain/data/name_grants.h"
#include "common/domain/data/output_asset.h"

namespace lockstep {

// The kinds of assets. Each kind has names of its own.
enum class AssetKind { data, model, component };
inline constexpr AssetKind kInputKinds[] = {AssetKind::data, AssetKind::model};
Word describe(AssetKind kind);
std::string_view to_string(AssetKind kind);  // The name in commands: "data", "model", "component".
std::string_view noun_of(AssetKind kind);    // The name in sentences: "data asset", "model",
                                             // "component".
AssetKind kind_of(InputType type);
// "uri_file, uri_folder or mltable": the types of a kind, for errors.
std::string types_of(AssetKind kind);

enum class ComponentType { command, pipeline };
Word describe(ComponentType type);
std::string_view to_string(ComponentType type);

inline constexpr std::size_t kMaxAssetDescriptionBytes = 16 << 10;
inline constexpr std::size_t kMaxAssetTags = 100;
inline constexpr std::size_t kMaxAssetTagBytes = 1'024;
inline constexpr std::size_t kMaxAssetsInReply = 10'000;
inline constexpr std::size_t kMaxJobsInLineage = 20;

struct RegisteredAsset {
  std::string name, version;
  InputType type = InputType::uri_folder;  // says whether it is data or a model
  // The files' origin, for people: a path of the one who registered it, or
  // "azureml://jobs/JOB/outputs/NAME", which the launcher has resolved.
  std::string path;
  std::optional<Digest> tree;  // the folder, or a folder with this one file
  // The file's name in `tree`; "": the asset is the folder itself. For a component: the path of its
  // file in `tree`, "train/train.yml".
  std::string file;
  std::string description;
  std::map<std::string, std::string> tags;
  std::optional<ComponentType> component = {};  // present for a component, which has no `type`
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "version", s.version);
    see(field<3>, "type", s.type);
    see(field<4>, "path", s.path);
    see(field<5>, "tree", s.tree);
    see(field<6>, "file", s.file);
    see(field<7>, "description", s.description);
    see(field<8>, "tags", s.tags, {.count = kMaxAssetTags});
    see(field<9>, "component", s.component);
  }
  friend bool operator==(const RegisteredAsset&, const RegisteredAsset&) = default;

  bool has_content_of(const RegisteredAsset& other) const {
    return type == other.type && component == other.component && tree == other.tree &&
           file == other.file;
  }
};

AssetKind kind_of(const RegisteredAsset& asset);
std::string_view type_word(const RegisteredAsset& asset);  // "uri_file", "command"
RegisteredAsset asset_of(const OutputAsset& output);  // The asset's fields; `files` stays empty.

// Checks everything that is possible without the asset's files; the launcher checks whether it has
// a tree yet. Errors name the key.
Status validate(const RegisteredAsset& asset);
// Checks the texts that people note about an asset, or an environment.
Status validate_texts(const std::string& description,
                      const std::map<std::string, std::string>& tags);

// "NAME:VERSION"
std::string reference_of(const RegisteredAsset& asset);
// The job in whose outputs its files were; "": they came from elsewhere.
JobId maker_of(const RegisteredAsset& asset);

// ---- requests ----------------------------------------------------------------------------------

// Answered by AssetReply. Without a version it gets the version that has this content already and
// is the newest, else the next number. A path that begins with "azureml:" is resolved by the
// launcher; any other needs a tree, which the asker has uploaded.
struct CreateAsset {
  static constexpr int kBody = 346;
  RegisteredAsset asset;
  std::string project = {};  // the project of a new name; "": chosen as in CreateEnvironment
  static void table(auto& s, auto&& see) {
    see(field<1>, "asset", s.asset);
    see(field<2>, "project", s.project, kUserNameRule);
  }
  friend bool operator==(const CreateAsset&, const CreateAsset&) = default;
};
enum class ArchivedToo { no, yes, only };
Word describe(ArchivedToo archived);
// Answered by AssetsReply: all versions of `name`, newest first; without a name the newest version
// of each name.
struct ListAssets {
  static constexpr int kBody = 347;
  AssetKind kind = AssetKind::data;
  std::string name;
  ArchivedToo archived = ArchivedToo::no;
  static void table(auto& s, auto&& see) {
    see(field<1>, "kind", s.kind);
    see(field<2>, "name", s.name);
    see(field<3>, "archived", s.archived);
  }
  friend bool operator==(const ListAssets&, const ListAssets&) = default;
};
struct ShowAsset {  // answered by AssetReply
  static constexpr int kBody = 348;
  AssetKind kind = AssetKind::data;
  std::string name;
  std::string version;  // "": the newest that is not archived
  static void table(auto& s, auto&& see) {
    see(field<1>, "kind", s.kind);
    see(field<2>, "name", s.name);
    see(field<3>, "version", s.version);
  }
  friend bool operator==(const ShowAsset&, const ShowAsset&) = default;
};
struct ArchiveAsset {  // answered by Done
  static constexpr int kBody = 349;
  AssetKind kind = AssetKind::data;
  std::string name;
  std::string version;   // "": all that it has
  bool archived = true;  // false: restores the version
  static void table(auto& s, auto&& see) {
    see(field<1>, "kind", s.kind);
    see(field<2>, "name", s.name);
    see(field<3>, "version", s.version);
    see(field<4>, "archived", s.archived);
  }
  friend bool operator==(const ArchiveAsset&, const ArchiveAsset&) = default;
};

// ---- views -------------------------------------------------------------------------------------

inline constexpr std::size_t kMaxMakerBytes = 64 << 10;

struct AssetView {
  RegisteredAsset asset;
  Instant created;
  std::string created_by;
  std::string project;
  bool archived = false;
  JobId made_by;  // "": no job, or one that the asker may not see
  // The newest jobs that had it as an input and that the asker may read, newest first; absent: not
  // looked for (in a list).
  std::optional<std::vector<JobId>> used_by = {};
  std::string owner = {};  // the owner of the name
  NameGrants grants = {};  // the other users and projects that may add versions to the name
  // The bytes that its files count for quotas; absent: it was registered before files were counted.
  std::optional<Bytes> files = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "asset", s.asset);
    see(field<2>, "created", s.created);
    see(field<3>, "created_by", s.created_by);
    see(field<4>, "project", s.project);
    see(field<5>, "archived", s.archived);
    see(field<6>, "made_by", s.made_by, {.bytes = kMaxMakerBytes});
    see(field<7>, "used_by", s.used_by, {.bytes = kMaxMakerBytes, .count = kMaxJobsInLineage});
    see(field<57>, "owner", s.owner, kUserNameRule);
    see(field<58>, "grants", s.grants);
    see(field<77>, "files", s.files);
  }
  friend bool operator==(const AssetView&, const AssetView&) = default;
};
struct AssetReply {
  static constexpr int kBody = 350;
  AssetView asset;
  static void table(auto& s, auto&& see) { see(field<1>, "asset", s.asset); }
  friend bool operator==(const AssetReply&, const AssetReply&) = default;
};
struct AssetsReply {
  static constexpr int kBody = 351;
  std::vector<AssetView> assets;
  std::int64_t more = 0;  // the number of further versions that this reply leaves out
  static void table(auto& s, auto&& see) {
    see(field<1>, "assets", s.assets, {.count = kMaxAssetsInReply});
    see(field<2>, "more", s.more);
  }
  static void mend(AssetsReply& s) {
    if (s.more < 0) s.more = 0;
  }
  friend bool operator==(const AssetsReply&, const AssetsReply&) = default;
};

}  // namespace lockstep
