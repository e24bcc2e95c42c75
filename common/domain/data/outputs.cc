#include "common/domain/data/outputs.h"

#include <algorithm>
#include <set>

#include "common/domain/data/asset.h"
#include "common/grammar/late_expression.h"

namespace lockstep {

Word describe(OutputType type) {
  switch (type) {
    case OutputType::uri_folder: return {1, "uri_folder"};
    case OutputType::uri_file: return {2, "uri_file"};
  }
  return {};
}
std::string_view to_string(OutputType type) { return describe(type).word; }

std::string_view type_word(const OutputSpec& output) {
  if (output.declared) return to_string(*output.declared);
  return output.asset ? to_string(output.asset->type) : to_string(output.type);
}

Word describe(OutputMode mode) {
  switch (mode) {
    case OutputMode::rw_mount: return {1, "rw_mount"};
    case OutputMode::upload: return {2, "upload"};
  }
  return {};
}
std::string_view to_string(OutputMode mode) { return describe(mode).word; }

Status validate(const std::vector<OutputSpec>& outputs) {
  const auto invalid = [](std::string message) {
    return make_error(ErrorCode::invalid_argument, std::move(message));
  };
  if (outputs.size() > kMaxOutputs)
    return invalid("outputs: there are " + std::to_string(outputs.size()) + "; at most " +
                   std::to_string(kMaxOutputs) + " are possible");
  std::set<std::string> names;
  for (const OutputSpec& output : outputs) {
    if (!valid_output_name(output.name))
      return invalid("outputs: '" + output.name + "' is not an output's name: 1 to " +
                     std::to_string(kMaxOutputNameBytes) +
                     " letters, digits or '_', not starting with a digit");
    if (!names.insert(output.name).second)
      return invalid("outputs: '" + output.name + "' is named twice");
    if (output.path.size() > kMaxDatastorePathBytes)
      return invalid("outputs." + output.name + ".path: is too long");
    if (!output.remote.empty() && !valid_datastore_name(output.remote))
      return invalid("outputs." + output.name + ".path: the datastore's name is not " +
                     datastore_name_form());
    if (output.place)
      if (const Status good = validate(*output.place); !good)
        return invalid("outputs." + output.name + ".path: " + good.error().message);
    if (output.asset)
      if (const Status good = validate(asset_of(*output.asset)); !good)
        return invalid("outputs." + output.name + ": " + good.error().message);
  }
  return {};
}

Status CollectedOutput::check(const CollectedOutput& output) {
  if (output.name.empty() || valid_output_name(output.name)) return {};
  return make_error(ErrorCode::corrupt,
                    "message field collected_output.name: is not an output's name");
}

bool registers_outputs(const std::vector<OutputSpec>& outputs) {
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const OutputSpec& output) { return output.asset.has_value(); });
}

bool writes_to_remotes(const std::vector<OutputSpec>& outputs) {
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const OutputSpec& output) { return !output.remote.empty(); });
}

std::string_view to_string(OutputWrite::State state) {
  switch (state) {
    case OutputWrite::State::waiting: return "waiting";
    case OutputWrite::State::written: return "written";
    case OutputWrite::State::given_up: return "given_up";
  }
  return "waiting";
}

std::string named_output_folder(const std::string& name) {
  return std::string(kReservedFolder) + "/" + std::string(kOutputsFolder) + "/" + name;
}

std::map<std::string, std::string> output_paths(const std::vector<OutputSpec>& outputs,
                                                const std::string& working_directory) {
  std::map<std::string, std::string> paths;
  for (const OutputSpec& output : outputs) {
    std::string path = working_directory + "/" + named_output_folder(output.name);
    if (output.type == OutputType::uri_file) path += "/" + output.name;
    paths.emplace(output.name, std::move(path));
  }
  return paths;
}

namespace {

std::string with_names(std::string path, const OutputSpec& output, const std::string& job) {
  for (const auto& [expression, value] :
       {std::pair<std::string, std::string>("${{name}}", job), {"${{output_name}}", output.name}})
    for (std::size_t at = path.find(expression); at != std::string::npos;
         at = path.find(expression, at + value.size()))
      path.replace(at, expression.size(), value);
  return path;
}

}  // namespace

std::string path_in_place(const OutputSpec& output, const std::string& job) {
  return with_names(output.place ? output.place->path : "", output, job);
}

std::string path_of(const OutputSpec& output, const std::string& job) {
  return with_names(output.path, output, job);
}

std::string output_expression(std::string_view name) { return expression_of("outputs", name); }

std::string put_in_outputs(std::string text, const std::map<std::string, std::string>& paths) {
  return put_in_expressions(std::move(text), "outputs", paths);
}

Word describe(OutputKind kind) {
  switch (kind) {
    case OutputKind::outputs: return {1, "outputs"};
    case OutputKind::logs: return {2, "logs"};
    case OutputKind::named: return {3, "named"};
    case OutputKind::checkpoint: return {4, "checkpoint"};
    case OutputKind::kept: return {5, "kept"};
  }
  return {};
}
std::string_view to_string(OutputKind kind) { return describe(kind).word; }

std::string describe(OutputKind kind, const std::string& name) {
  switch (kind) {
    case OutputKind::outputs: return "./outputs";
    case OutputKind::logs: return "./logs";
    case OutputKind::named: return "output '" + name + "'";
    case OutputKind::checkpoint: return "checkpoint";
    case OutputKind::kept: return "kept files";
  }
  return "./outputs";
}

}  // namespace lockstep
