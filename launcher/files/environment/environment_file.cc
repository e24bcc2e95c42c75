// Files that contain only an environment.

#include <fmt/format.h>

#include <utility>

#include "common/io/file_system.h"
#include "launcher/files/environment/conda_lock.h"
#include "launcher/files/environment/environment_reader.h"
#include "launcher/files/yaml/named_text.h"
#include "launcher/files/yaml/parsed.h"

namespace lockstep::spec {
namespace {

// Takes the environment of a file that contains nothing else; errors of the domain's checks have no
// line.
Result<ReadEnvironment> only(Result<CondaFile> file, const std::string& path) {
  if (!file) return file.error();
  ReadEnvironment read;
  EnvironmentSpec& spec = read.environment.spec;
  spec.name = std::move(file->name);
  spec.definition = std::move(file->environment);
  const Status valid = validate(spec);
  if (valid) return read;
  return make_error(valid.error().code, fmt::format("{}:1:1: {}", path, valid.error().message));
}

}  // namespace

Result<ReadEnvironment> load_environment(const std::string& path, const ReadText& read_text,
                                         Notes& notes) {
  TRY_ASSIGN(const std::string text, read_text(path));
  const Source source{path,
                      without_mark(text),
                      "an environment file",
                      "an 'interpreter', 'requirements', a 'conda_file' or an 'image'",
                      kMaxCondaBytes,
                      kMaxCondaNodes};
  if (is_explicit_lock(source.text)) return load_conda_environment(path, read_text, notes);
  TRY_ASSIGN(const YamlNode root, parse_yaml(source));
  TRY(refuse_pixi_lock(source, root));
  if (is_conda(root)) return only(read_conda(source, root, "", read_text, notes), path);
  return read_definition(source, root, "", read_text, notes);
}

Result<ReadEnvironment> load_conda_environment(const std::string& path, const ReadText& read_text,
                                               Notes& notes) {
  return only(load_conda(path, read_text, notes), path);
}

Result<std::string> read_text_file(const std::string& path) {
  TRY_ASSIGN(std::string text, io::read_file(path, Bytes{kMaxCondaBytes}));
  return as_utf8(std::move(text));
}

Result<std::string> read_regular_text_file(const std::string& path) {
  TRY_ASSIGN(std::string text, io::read_regular_file(path, Bytes{kMaxCondaBytes}));
  return as_utf8(std::move(text));
}

Status load_requirements(const std::string& path, const ReadText& read_text,
                         VenvEnvironment& environment) {
  return read_requirements(path, checked(read_text), environment);
}

}  // namespace lockstep::spec
