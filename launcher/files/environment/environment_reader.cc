#include "launcher/files/environment/environment_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/files/environment/environment_reader_impl.h"
#include "launcher/files/environment/environment_reference.h"
#include "launcher/files/environment/venv_reader.h"

namespace lockstep::spec {

const YamlNode* DefinitionReader::at(std::string_view key) const {
  const YamlEntry* entry = mapping_.find(key);
  return entry == nullptr || entry->value.kind == YamlNode::Kind::null ? nullptr : &entry->value;
}

std::string DefinitionReader::text(std::string_view key) const {
  const YamlNode* node = at(key);
  return node == nullptr ? "" : node->text;
}

Result<CondaFile> DefinitionReader::conda() const {
  TRY_ASSIGN(CondaFile read, conda_file());
  TRY_ASSIGN(const auto constraints, read_constraints(source_, mapping_, section_));
  if (!constraints.empty() && !read.environment.locked.empty())
    return error(
        mapping_.find("constraints")->place,
        fmt::format("'{}' cannot be combined with a lock file, which names every package already",
                    shown("constraints")));
  auto& all = read.environment.constraints;
  all.insert(all.end(), constraints.begin(), constraints.end());
  return read;
}

Result<CondaFile> DefinitionReader::conda_file() const {
  const YamlNode& file = *at("conda_file");
  if (file.kind == YamlNode::Kind::mapping)
    return read_conda(source_, file, shown("conda_file") + ".", read_text_, notes_);
  bool opened = false;
  const ReadText noticing = [&](const std::string& path) {
    auto text = read_text_(path);
    opened = opened || text;
    return text;
  };
  auto read = load_conda(source_.beside(file.text), noticing, notes_);
  if (read || opened) return read;
  return error(file.place,
               fmt::format("'{}': {}; write the name of a conda file, relative to this file, or a "
                           "mapping of channels and dependencies",
                           shown("conda_file"), read.error().message),
               read.error().code);
}

// Checks that exactly one key gives the kind of the environment.
Status DefinitionReader::check_kind() const {
  const auto refuse = [&](std::string_view key, const std::string& message) {
    return error(mapping_.find(key)->place, message);
  };
  const bool interpreter = at("interpreter") != nullptr;
  const bool requirements = at("requirements") != nullptr;
  const bool conda = at("conda_file") != nullptr;
  if (interpreter && (requirements || conda)) {
    const std::string_view packages = requirements ? "requirements" : "conda_file";
    return refuse(
        packages,
        fmt::format(
            "'{}' installs packages, but '{}' uses a Python without installing any: leave one "
            "out{}",
            shown(packages), shown("interpreter"),
            conda ? ""
                  : fmt::format(" (`{}` chooses the Python that the packages are installed for)",
                                shown("python"))));
  }
  if (conda && requirements)
    return refuse("requirements",
                  fmt::format("'{}' and '{}' cannot be combined; list pip's packages in the conda "
                              "file, among its dependencies: - pip: [-r requirements.txt]",
                              shown("requirements"), shown("conda_file")));
  if (conda && at("python") != nullptr)
    return refuse("python", fmt::format("'{}' works only with '{}'; in a conda environment, name "
                                        "Python among the dependencies: python=3.11",
                                        shown("python"), shown("requirements")));
  if (at("python") != nullptr && !requirements)
    return refuse("python",
                  fmt::format("'{}' needs '{}', which is missing; to use a Python without "
                              "installing packages, write '{}'",
                              shown("python"), shown("requirements"), shown("interpreter")));
  if (interpreter || requirements || conda) return {};
  return error(
      mapping_.place,
      fmt::format("an environment needs one of: '{}' (a Python that every node has), '{}' or '{}' "
                  "(packages to install), or '{}' or '{}' (a container)",
                  shown("interpreter"), shown("requirements"), shown("conda_file"), shown("image"),
                  shown("build")));
}

// Checks keys that have no effect without packages of pip.
Status DefinitionReader::check_pip_keys() const {
  const bool requirements = at("requirements") != nullptr;
  const bool conda = at("conda_file") != nullptr;
  if (at("options") != nullptr && !requirements)
    return error(
        mapping_.find("options")->place,
        fmt::format(
            "'{}' works only with '{}'{}", shown("options"), shown("requirements"),
            conda ? "; in a conda file, put the options among pip's packages: - pip: [--pre, six]"
                  : ", which is missing"));
  if (at("constraints") != nullptr && !requirements && !conda)
    return error(mapping_.find("constraints")->place,
                 fmt::format("'{}' needs '{}' or '{}', and both are missing", shown("constraints"),
                             shown("requirements"), shown("conda_file")));
  return {};
}

Result<HostEnvironment> DefinitionReader::host(const YamlNode& interpreter) const {
  if (const auto fault = fault_of_interpreter(interpreter.text))
    return error(interpreter.place, fmt::format("'{}': {}", shown("interpreter"), *fault));
  return HostEnvironment{interpreter.text};
}

// Reads the container part. `name`: becomes the conda file's name, if it has one.
Result<ReadDocker> DefinitionReader::docker(std::string& name) const {
  TRY_ASSIGN(ReadDocker read, read_docker(source_, mapping_, section_));
  if (at("conda_file") == nullptr) return read;
  TRY_ASSIGN(CondaFile file, conda());
  read.docker.conda = std::move(file.environment);
  name = std::move(file.name);
  return read;
}

Status DefinitionReader::fill_definition(ReadEnvironment& read) const {
  EnvironmentSpec& spec = read.environment.spec;
  std::string name;
  if (!is_docker(mapping_)) TRY(check_kind());
  TRY(check_pip_keys());
  if (is_docker(mapping_)) {
    TRY_ASSIGN(ReadDocker container, docker(name));
    spec.definition = std::move(container.docker);
    read.build = std::move(container.build);
  } else if (const YamlNode* interpreter = at("interpreter")) {
    TRY_ASSIGN(spec.definition, host(*interpreter));
  } else if (at("requirements") != nullptr) {
    TRY_ASSIGN(spec.definition, read_venv(source_, mapping_, section_, read_text_, notes_));
  } else {
    TRY_ASSIGN(CondaFile file, conda());
    name = std::move(file.name);
    spec.definition = std::move(file.environment);
  }
  if (spec.name.empty()) spec.name = std::move(name);
  return {};
}

// Checks the whole definition. Errors of the domain's checks begin with "environment.KEY: "; the
// key's place is looked up. An error in a conda file that has no place gets the file's.
Status DefinitionReader::validate_whole(const EnvironmentSpec& spec) const {
  const Status valid = validate(spec);
  if (valid) return {};
  std::string message = valid.error().message;
  const std::string prefix = std::string(kTable) + ".";
  const bool named = message.starts_with(prefix);
  const YamlNode* node = &mapping_;
  for (std::size_t from = prefix.size(); named && from < message.size();) {
    const auto end = std::min(message.find_first_of(":.", from), message.size());
    const YamlEntry* entry = node->find(message.substr(from, end - from));
    if (entry != nullptr) node = &entry->value;
    from = entry == nullptr || message[end] == ':' ? message.size() : end + 1;
  }
  if (named) message = section_ + message.substr(prefix.size());
  if (node == &mapping_ && at("conda_file") != nullptr) node = at("conda_file");
  return error(node->place, message, valid.error().code);
}

Result<ReadEnvironment> DefinitionReader::read() {
  TRY(refuse_conda());
  TRY(check_keys());
  TRY(check_schema());
  TRY(check_os());
  ReadEnvironment read;
  RegisteredEnvironment& environment = read.environment;
  EnvironmentSpec& spec = environment.spec;
  spec.name = text("name");
  spec.version = text("version");
  environment.description = text("description");
  if (const YamlNode* tags = at("tags"))
    for (const YamlEntry& tag : tags->entries) environment.tags[tag.key] = tag.value.text;
  TRY(fill_definition(read));
  TRY(validate_whole(spec));
  return read;
}

Result<ReadEnvironment> read_definition(const Source& source, const YamlNode& mapping,
                                        const std::string& section, const ReadText& read_text,
                                        Notes& notes) {
  return DefinitionReader(source, mapping, section, read_text, notes).read();
}

Result<EnvironmentChoice> read_environment(const Source& source, const YamlNode& node,
                                           const ReadText& read_text, Notes& notes) {
  if (node.kind == YamlNode::Kind::mapping) {
    TRY_ASSIGN(auto environment, read_definition(source, node, "environment.", read_text, notes));
    return EnvironmentChoice(std::move(environment));
  }
  const auto wrong = [&](const Error& error) {
    return source.error(node.place, "'environment': " + error.message, error.code);
  };
  if (node.kind != YamlNode::Kind::scalar)
    return source.error(node.place, fmt::format("'environment' must be a name or a mapping, not {}",
                                                describe(node.kind)));
  if (node.text.empty())
    return source.error(node.place,
                        "'environment' is empty; leave it out to use each node's PATH unchanged");
  if (const auto marked = marked_file(node.text)) {
    const std::string path = source.beside(*marked);
    bool opened = false;
    const ReadText noticing = [&](const std::string& file) {
      auto text = read_text(file);
      opened = opened || text;
      return text;
    };
    auto environment = load_environment(path, noticing, notes);
    if (environment) return EnvironmentChoice(*std::move(environment));
    return opened ? environment.error() : wrong(environment.error());
  }
  if (looks_like_file(node.text))
    return source.error(node.place, fmt::format("'environment': '{0}' looks like a file's name, "
                                                "not an environment's; for a file, write file:{0}",
                                                node.text));
  auto reference = parse_environment_reference(node.text);
  if (!reference) return wrong(reference.error());
  return EnvironmentChoice(EnvironmentReference{*std::move(reference), source.where(node.place)});
}

}  // namespace lockstep::spec
