#pragma once
// Data inputs of a job: files and folders that its ranks read. The launcher stores their contents
// as trees; a node writes each tree out once for all jobs that read it. Literal inputs are not
// here: they are in JobSpec::inputs.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/base/table.h"
#include "common/domain/data/datastore.h"

namespace lockstep {

// Azure's names. All but uri_file and custom_model are folders.
enum class InputType { uri_folder, uri_file, mltable, mlflow_model, custom_model, triton_model };
Word describe(InputType type);
std::string_view to_string(InputType type);
std::optional<InputType> input_type_from(std::string_view word);
// Whether an input of one type takes files of another, as on Azure: a table is a folder and may be
// given as one, and a file stands for a folder that has it.
bool takes(InputType wanted, InputType given);

enum class InputMode {
  ro_mount,  // read-only, one copy on each node for all jobs
  download,  // a copy for each attempt, which its ranks may change
  direct,    // the ranks get `address`; nothing is copied
  rw_mount,  // files of a datastore's directory, which the ranks may change
};
Word describe(InputMode mode);
std::string_view to_string(InputMode mode);
std::optional<InputMode> input_mode_from(std::string_view word);

struct DataInput {
  std::string name;
  InputType type = InputType::uri_folder;
  InputMode mode = InputMode::ro_mount;
  std::string source;          // the path or address as the submission has it, for people: "./data"
  std::optional<Digest> tree;  // the folder, or a folder with this one file; absent: direct
  std::string file;            // name of the file in `tree`; "": the input is the folder itself
  std::string address;         // for a direct input: a URL, or a path that each node must have
  // True when the submission gives no type: the input then has the type of the registered data or
  // model that `source` names. The launcher sets it to false when it has found that type.
  bool is_type_open = false;
  // The path in a datastore's directory that the ranks use in place. An input with a place has no
  // `tree`.
  std::optional<DatastorePath> place = std::nullopt;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "type", s.type);
    see(field<3>, "mode", s.mode);
    see(field<4>, "source", s.source);
    see(field<5>, "tree", s.tree);
    see(field<6>, "file", s.file);
    see(field<7>, "address", s.address);
    see(field<8>, "is_type_open", s.is_type_open);
    see(field<9>, "place", s.place);
  }
  friend bool operator==(const DataInput&, const DataInput&) = default;

  // The input names a path of the nodes.
  bool is_in_place() const { return address.starts_with('/'); }
};
// The name of a file in a folder, or "".
bool is_file_name(const std::string& name);
// The approximate bytes of a record of it.
std::size_t bytes_of(const DataInput& input);

inline constexpr std::size_t kMaxDataInputs = 100;
inline constexpr std::size_t kMaxInputAddressBytes = 4096;

// Checks names (as outputs have them), that they differ, and that each input has what its mode
// needs. Errors begin with "inputs.NAME".
Status validate(const std::vector<DataInput>& inputs);

// ".lockstep/inputs/<name>": a folder of the working directory.
std::string input_folder(const std::string& name);

// The values of inputs by name: the path or address that a rank reads.
std::map<std::string, std::string> input_values(const std::vector<DataInput>& inputs,
                                                const std::string& working_directory);

// "${{inputs.NAME}}". launcher/files leaves it in commands and variables for data inputs; the node
// replaces it.
std::string input_expression(std::string_view name);
// Returns `text` with the expression of each of `values` replaced.
std::string put_in_inputs(std::string text, const std::map<std::string, std::string>& values);

}  // namespace lockstep
