#pragma once
// Reads one definition of an environment.

#include "launcher/files/environment/environment_reader.h"

#include "launcher/files/yaml/keys.h"

namespace lockstep::spec {

inline constexpr std::string_view kTable = "environment";  // the section of the keys in keys.cc

class DefinitionReader {
 public:
  DefinitionReader(const Source& source, const YamlNode& mapping, const std::string& section,
                   const ReadText& read_text, Notes& notes)
      : source_(source),
        mapping_(mapping),
        section_(section),
        read_text_(read_text),
        notes_(notes) {}

  Result<ReadEnvironment> read();

 private:
  const YamlNode* at(std::string_view key) const;  // Finds a key; nullptr: absent, or null.
  std::string text(std::string_view key) const;
  std::string shown(std::string_view key) const { return section_ + std::string(key); }
  Error error(const Place& place, std::string_view message,
              ErrorCode code = ErrorCode::invalid_argument) const {
    return source_.error(place, message, code);
  }

  Status refuse_conda() const;
  bool is_of_show(const YamlEntry& entry) const;
  Status check_keys() const;
  Status check_key(const YamlEntry& entry) const;
  Status check_value(const YamlEntry& entry, Shape shape) const;
  Status check_schema() const;
  Status check_os() const;
  Error unknown_key(const YamlEntry& entry) const;
  Status check_kind() const;
  Status fill_definition(ReadEnvironment& read) const;
  Result<ReadDocker> docker(std::string& name) const;
  Result<CondaFile> conda() const;
  Result<CondaFile> conda_file() const;
  Status check_pip_keys() const;
  Result<HostEnvironment> host(const YamlNode& interpreter) const;
  Status validate_whole(const EnvironmentSpec& spec) const;

  const Source& source_;
  const YamlNode& mapping_;
  const std::string& section_;
  const ReadText& read_text_;
  Notes& notes_;
};

}  // namespace lockstep::spec
