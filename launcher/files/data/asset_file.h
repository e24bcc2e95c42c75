#pragma once
// Turns an Azure ML CLI v2 file of data or of a model (YAML), with the options of the command line,
// into a RegisteredAsset. An error lists the problems, one per line (faults.h). A line begins with
// FILE:LINE:COLUMN, or with "--set k=v" for an option. It captures nothing.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/domain/data/asset.h"
#include "launcher/files/data/input_reader.h"
#include "launcher/files/yaml/faults.h"

namespace lockstep::spec {

struct AssetFile {
  RegisteredAsset asset;           // without its tree
  std::optional<LocalData> local;  // absent: the launcher finds the files by asset.path
  // The places of "name", "version" and "path", for the launcher's errors: "data.yml:3:7", or the
  // option as it was typed.
  std::map<std::string, std::string> where = {};
};

// The launcher's error with the place of the key that it is about, if there is one.
Error with_place(const Error& error, const AssetFile& file);

// The values that options give, which replace the file's values.
struct AssetOptions {
  std::vector<std::pair<std::string, std::string>> values;  // key -> text as written
  std::map<std::string, std::string> tags;                  // tags to add to the file's tags
  std::vector<std::string> overrides;  // the assignments of --set, applied after these
};

// Reads a file. `path`: the file; "": everything comes from the options. A relative path of files
// is relative to the file that has it, or for an option to the working directory. Local files
// exist, and are of the asset's type.
Result<AssetFile> load_asset(AssetKind kind, const std::string& path, const AssetOptions& options);
// The same for a text from anywhere, which errors call `name`; local files are not looked at.
Result<AssetFile> parse_asset(AssetKind kind, const std::string& name, std::string_view text,
                              const AssetOptions& options = {});

}  // namespace lockstep::spec
