#include "common/domain/data/inputs.h"

#include <array>
#include <set>

#include "common/domain/data/output_name.h"
#include "common/grammar/late_expression.h"

namespace lockstep {
namespace {

constexpr std::array kTypes = {InputType::uri_folder,   InputType::uri_file,
                               InputType::mltable,      InputType::mlflow_model,
                               InputType::custom_model, InputType::triton_model};
constexpr std::array kModes = {InputMode::ro_mount, InputMode::download, InputMode::direct,
                               InputMode::rw_mount};

bool is_of_datastore(const DataInput& input) {
  return input.source.starts_with("azureml://datastores/") ||
         input.source.starts_with("azureml://subscriptions/");
}

// Whether the tree of a copied file is known yet is checked by the launcher.
Status validate_one(const DataInput& input) {
  const auto invalid = [&](const std::string& message) {
    return make_error(ErrorCode::invalid_argument, "inputs." + input.name + ": " + message);
  };
  const bool is_direct = input.mode == InputMode::direct;
  if (is_direct && input.address.empty()) return invalid("a direct input needs a path");
  if (is_direct && (input.tree || !input.file.empty()))
    return invalid("a direct input has no files of its own");
  if (!is_direct && !input.address.empty()) return invalid("only a direct input has an address");
  if (input.mode == InputMode::rw_mount && !is_of_datastore(input))
    return invalid(
        "rw_mount changes files in place, and only a datastore's directory has such; write mode: "
        "download for a copy of its own");
  if (input.place && input.tree) return invalid("it has both a tree and a datastore's directory");
  if (input.place) {
    const Status good = validate(*input.place);
    if (!good) return invalid(good.error().message);
  }
  for (const std::string* text : {&input.address, &input.source, &input.file}) {
    if (text->size() > kMaxInputAddressBytes)
      return invalid("its path has more than " + std::to_string(kMaxInputAddressBytes) + " bytes");
    for (const unsigned char c : *text)
      if (c < 0x20 || c == 0x7f) return invalid("its path has a control character");
  }
  if (!is_file_name(input.file)) return invalid("'" + input.file + "' is not a file's name");
  return {};
}

}  // namespace

bool is_file_name(const std::string& name) {
  return name != "." && name != ".." && name.size() <= 255 && name.find('/') == std::string::npos;
}

Word describe(InputType type) {
  switch (type) {
    case InputType::uri_folder: return {1, "uri_folder"};
    case InputType::uri_file: return {2, "uri_file"};
    case InputType::mltable: return {3, "mltable"};
    case InputType::mlflow_model: return {4, "mlflow_model"};
    case InputType::custom_model: return {5, "custom_model"};
    case InputType::triton_model: return {6, "triton_model"};
  }
  return {};
}
std::string_view to_string(InputType type) { return describe(type).word; }

std::optional<InputType> input_type_from(std::string_view word) {
  for (const InputType type : kTypes)
    if (to_string(type) == word) return type;
  return std::nullopt;
}

bool takes(InputType wanted, InputType given) {
  if (wanted == given) return true;
  switch (given) {
    case InputType::uri_file:
    case InputType::mltable: return wanted == InputType::uri_folder;
    case InputType::uri_folder: return wanted == InputType::mltable;
    case InputType::mlflow_model:
    case InputType::custom_model:
    case InputType::triton_model: return false;
  }
  return false;
}

Word describe(InputMode mode) {
  switch (mode) {
    case InputMode::ro_mount: return {1, "ro_mount"};
    case InputMode::download: return {2, "download"};
    case InputMode::direct: return {3, "direct"};
    case InputMode::rw_mount: return {4, "rw_mount"};
  }
  return {};
}
std::string_view to_string(InputMode mode) { return describe(mode).word; }

std::optional<InputMode> input_mode_from(std::string_view word) {
  for (const InputMode mode : kModes)
    if (to_string(mode) == word) return mode;
  return std::nullopt;
}

std::size_t bytes_of(const DataInput& input) {
  const std::size_t place =
      input.place ? input.place->directory.size() + input.place->path.size() + 32 : 0;
  return 64 + input.name.size() + input.source.size() + input.file.size() + input.address.size() +
         place;
}

Status validate(const std::vector<DataInput>& inputs) {
  if (inputs.size() > kMaxDataInputs)
    return make_error(ErrorCode::invalid_argument,
                      "inputs: there are " + std::to_string(inputs.size()) + "; at most " +
                          std::to_string(kMaxDataInputs) + " are possible");
  std::set<std::string> names;
  for (const DataInput& input : inputs) {
    if (!valid_output_name(input.name))
      return make_error(ErrorCode::invalid_argument,
                        "inputs: '" + input.name + "' is not an input's name: 1 to " +
                            std::to_string(kMaxOutputNameBytes) +
                            " letters, digits or '_', not starting with a digit");
    if (!names.insert(input.name).second)
      return make_error(ErrorCode::invalid_argument, "inputs." + input.name + ": is named twice");
    TRY(validate_one(input));
  }
  return {};
}

std::string input_folder(const std::string& name) {
  return std::string(kReservedFolder) + "/inputs/" + name;
}

std::map<std::string, std::string> input_values(const std::vector<DataInput>& inputs,
                                                const std::string& working_directory) {
  std::map<std::string, std::string> values;
  for (const DataInput& input : inputs) {
    std::string value = working_directory + "/" + input_folder(input.name);
    if (!input.file.empty()) value += "/" + input.file;
    values.emplace(input.name, input.mode == InputMode::direct ? input.address : value);
  }
  return values;
}

std::string input_expression(std::string_view name) { return expression_of("inputs", name); }

std::string put_in_inputs(std::string text, const std::map<std::string, std::string>& values) {
  return put_in_expressions(std::move(text), "inputs", values);
}

}  // namespace lockstep
