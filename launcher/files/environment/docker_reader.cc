#include "launcher/files/environment/docker_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "common/base/nearest.h"
#include "launcher/files/environment/environment_reference.h"

namespace lockstep::spec {

namespace {

constexpr std::array<std::string_view, 2> kKeys{"path", "dockerfile_path"};

// Paths that would have to be fetched: "https://…", "git@host:x", "azureml:…".
bool is_remote(const std::string& path) {
  return path.find("://") != std::string::npos || path.starts_with("git@") ||
         path.starts_with("azureml:") || path.starts_with("github.com/");
}

class DockerReader {
 public:
  DockerReader(const Source& source, const YamlNode& mapping, const std::string& section)
      : source_(source), mapping_(mapping), section_(section) {}

  Result<ReadDocker> read() {
    TRY(check_kind());
    ReadDocker read;
    if (const YamlNode* image = at(mapping_, "image")) {
      read.docker.image = image->text;
      return read;
    }
    TRY_ASSIGN(read.build, build());
    read.docker.build = ImageBuild{{}, read.build->dockerfile};
    return read;
  }

 private:
  static const YamlNode* at(const YamlNode& mapping, std::string_view key) {
    const YamlEntry* entry = mapping.find(key);
    return entry == nullptr || entry->value.kind == YamlNode::Kind::null ? nullptr : &entry->value;
  }
  std::string shown(std::string_view key) const { return section_ + std::string(key); }
  Error error(const Place& place, std::string_view message,
              ErrorCode code = ErrorCode::invalid_argument) const {
    return source_.error(place, message, code);
  }

  // Checks that no key of another kind is beside it, and none that installs packages in another
  // way.
  Status check_kind() const {
    const auto both = [&](std::string_view key, const std::string& why) {
      return error(mapping_.find(key)->place, why);
    };
    const std::string here = shown(at(mapping_, "image") == nullptr ? "build" : "image");
    if (at(mapping_, "image") != nullptr && at(mapping_, "build") != nullptr)
      return both("build", fmt::format("'{}' and '{}' cannot be combined: leave one out (to build "
                                       "on an image, name it after FROM in the Dockerfile)",
                                       shown("build"), shown("image")));
    if (at(mapping_, "interpreter") != nullptr)
      return both(
          "interpreter",
          fmt::format("'{}' names a Python of the nodes, but '{}' has its own: leave one out",
                      shown("interpreter"), here));
    if (at(mapping_, "requirements") != nullptr)
      return both(
          "requirements",
          fmt::format("'{}' cannot be combined with '{}'; to install packages on an image, use "
                      "'{}', with pip's among its dependencies: - pip: [-r requirements.txt]",
                      shown("requirements"), here, shown("conda_file")));
    if (at(mapping_, "python") != nullptr)
      return both("python",
                  fmt::format("'{}' works only with '{}'; in a container, Python comes from the "
                              "image or from the dependencies of '{}': python=3.11",
                              shown("python"), shown("requirements"), shown("conda_file")));
    return {};
  }

  Status check_build(const YamlNode& build) const {
    const std::string name = shown("build");
    if (build.kind != YamlNode::Kind::mapping)
      return error(build.place,
                   fmt::format("'{}' must be a mapping, not {}; write {{path: FOLDER}}", name,
                               describe(build.kind)));
    for (const YamlEntry& entry : build.entries) {
      const std::string key = name + "." + entry.key;
      if (entry.key == "context")
        return error(entry.place,
                     fmt::format("'{}' is the digest of a folder that the launcher has stored; "
                                 "name the folder itself: {{path: FOLDER}}",
                                 key),
                     ErrorCode::unsupported);
      if (std::find(kKeys.begin(), kKeys.end(), entry.key) == kKeys.end()) {
        const std::string near = nearest(entry.key, kKeys);
        return error(entry.place,
                     fmt::format("unknown key '{}'; {}", key,
                                 near.empty() ? "the known keys are 'path' and 'dockerfile_path'"
                                              : fmt::format("did you mean '{}.{}'?", name, near)));
      }
      const YamlNode& value = entry.value;
      if (value.kind == YamlNode::Kind::null) continue;
      if (value.kind != YamlNode::Kind::scalar)
        return error(value.place,
                     fmt::format("'{}' must be a string, not {}", key, describe(value.kind)));
      if (value.text.empty())
        return error(value.place,
                     fmt::format("'{}' is empty; {}", key,
                                 entry.key == "path" ? "name a folder, such as ."
                                                     : "leave it out to use Dockerfile"));
    }
    return {};
  }

  std::string where(const YamlNode& node, std::string_view key) const {
    return fmt::format("{}: '{}.{}'", source_.where(node.place), shown("build"), key);
  }

  Result<BuildFolder> build() const {
    const YamlNode& build = *at(mapping_, "build");
    TRY(check_build(build));
    const YamlNode* path = at(build, "path");
    if (path == nullptr)
      return error(build.place, fmt::format("'{}' needs a 'path', the folder that the image is "
                                            "built from, such as .",
                                            shown("build")));
    if (is_remote(path->text) && !marked_file(path->text))
      return error(path->place,
                   fmt::format("'{}.path': '{}' is remote, which is not supported; download the "
                               "folder and give its local path",
                               shown("build"), path->text),
                   ErrorCode::unsupported);
    BuildFolder folder;
    folder.path = source_.beside(marked_file(path->text).value_or(path->text));
    folder.where = where(*path, "path");
    const YamlNode* dockerfile = at(build, "dockerfile_path");
    folder.dockerfile = dockerfile == nullptr ? ImageBuild{}.dockerfile : dockerfile->text;
    folder.dockerfile = std::filesystem::path(folder.dockerfile).lexically_normal().string();
    folder.dockerfile_where = where(dockerfile == nullptr ? *path : *dockerfile, "dockerfile_path");
    return folder;
  }

  const Source& source_;
  const YamlNode& mapping_;
  const std::string& section_;
};

}  // namespace

bool is_docker(const YamlNode& mapping) {
  return std::any_of(mapping.entries.begin(), mapping.entries.end(), [](const YamlEntry& entry) {
    return (entry.key == "image" || entry.key == "build") &&
           entry.value.kind != YamlNode::Kind::null;
  });
}

Result<ReadDocker> read_docker(const Source& source, const YamlNode& mapping,
                               const std::string& section) {
  return DockerReader(source, mapping, section).read();
}

}  // namespace lockstep::spec
