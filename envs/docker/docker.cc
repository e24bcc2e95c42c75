#include "envs/docker/docker.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <filesystem>
#include <system_error>

#include <algorithm>
#include <array>
#include <utility>

#include "common/domain/environment/variables.h"
#include "common/grammar/image_name.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "envs/docker/conda_image.h"
#include "envs/docker/dockerfile.h"
#include "envs/docker/probe.h"
#include "envs/docker/record.h"
#include "envs/docker/scratch.h"

namespace lockstep::envs {
namespace {

constexpr Bytes kMaxDockerfileBytes = mebibytes(1);
constexpr const char* kUsualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

Error invalid(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

// The name of this machine's architecture in Go.
std::string machine() {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kNames{
      {{"x86_64", "amd64"}, {"aarch64", "arm64"}, {"armv7l", "arm"}}};
  utsname kernel{};
  ::uname(&kernel);
  for (const auto& [ours, theirs] : kNames)
    if (ours == kernel.machine) return std::string(theirs);
  return kernel.machine;
}

Status check_machine(const Image& image, const std::string& name) {
  if (image.architecture.empty() || image.architecture == machine()) return {};
  return invalid(fmt::format("the image {} is for {}, but this node is {}", name,
                             image.architecture, machine()));
}

void say_unused(const Toolbox& tools, const Image& image) {
  if (image.has_entrypoint)
    tools.say("the image's ENTRYPOINT is not used: ranks run the job's command");
  const bool is_root = image.user.empty() || image.user == "root" || image.user == "0";
  if (!is_root)
    tools.say(
        fmt::format("the image's USER {} is not used: ranks run as the job's user", image.user));
  if (image.has_volumes) tools.say("the image's VOLUMEs are not used");
}

// The digest of the name that was asked for, if the image has several names.
std::string digest_of(const Image& image, const std::string& name) {
  const std::string repository = full_image_name(name.substr(0, name.find('@')));
  const auto at_tag = repository.rfind(':');
  const bool has_tag = at_tag != std::string::npos && at_tag > repository.rfind('/');
  const std::string bare = repository.substr(0, has_tag ? at_tag : std::string::npos) + "@";
  for (const std::string& digest : image.digests)
    if (full_image_name(digest).starts_with(bare)) return digest;
  return image.digests.empty() ? "" : image.digests.front();
}

// Names are recorded before the engine has them, so that none is left behind.
Status record(const ContainerEngine& engine, const Site& site, std::vector<std::string> names,
              std::uint64_t bytes = 0) {
  if (site.image.record.empty()) return {};
  if (const auto before = io::read_file(site.image.record)) {
    const auto record = image_record_from_json(*before);
    if (record) names.insert(names.begin(), record->names.begin(), record->names.end());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const ImageRecord record{engine.program(), engine.container().variables, std::move(names), bytes};
  return io::write_file_atomically(site.image.record, to_json(record), 0600, false);
}

Status pull(const ContainerEngine& engine, const Site& site, const std::string& name) {
  TRY(record(engine, site, {tagged_image_name(name)}));
  return engine.pull(name);
}

Result<Image> must_have(const ContainerEngine& engine, const std::string& name) {
  TRY_ASSIGN(auto image, engine.inspect(name));
  if (image) return *std::move(image);
  return make_error(ErrorCode::unavailable,
                    fmt::format("{} no longer has the image {}", engine.name(), name));
}

// Looks for an image. nullopt: the engine has no image with this id or with this digest of a
// registry.
Result<std::optional<Image>> look_for(const ContainerEngine& engine, const LockedImage& locked) {
  TRY_ASSIGN(auto image, engine.inspect(locked.id));
  if (image || locked.digest.empty()) return image;
  return engine.inspect(locked.digest);
}

Error nowhere(const ContainerEngine& engine, const LockedImage& locked) {
  return invalid(fmt::format(
      "the image {} ({}) is only on node {}: no registry has the image, it was not shared, and {} "
      "of this node does not have it. Run the job with --rebuild to solve and share it again",
      locked.name, locked.id, locked.node, engine.name()));
}

Status share(const ContainerEngine& engine, const Site& site, LockedImage& locked) {
  TRY(io::make_directories(site.image.tree, 0700));
  TRY(engine.save(locked.id, site.image.tree));
  locked.in_tree = true;
  return {};
}

bool stays_in(const std::string& folder, const std::string& file) {
  std::error_code failed;
  if (!std::filesystem::exists(std::filesystem::symlink_status(file, failed))) return true;
  const std::string real = std::filesystem::canonical(file, failed);
  if (failed) return false;
  const std::string root = std::filesystem::canonical(folder, failed);
  return !failed && real.starts_with(root + "/");
}

// Files of the context that an engine's client opens by path, as the agent's user, and following
// links. podman prints lines of an ignore file that it cannot parse.
Status check_files_of_client(const std::string& context, const std::string& dockerfile) {
  for (const std::string& file :
       {dockerfile, dockerfile + ".dockerignore", dockerfile + ".containerignore",
        std::string(".dockerignore"), std::string(".containerignore")})
    if (!stays_in(context, context + "/" + file))
      return invalid(
          fmt::format("'{}' leads out of the build's context; put the file itself there", file));
  return {};
}

// Variables that Lockstep sets for each rank, whatever the image says. PATH is the exception: the
// image's own is kept.
bool is_ours(std::string_view name) {
  constexpr std::array<std::string_view, 5> kLogin{"TMPDIR", "PWD", "USER", "LOGNAME", "SHELL"};
  if (name == "PATH") return false;
  return is_rank_variable(name) || std::find(kLogin.begin(), kLogin.end(), name) != kLogin.end();
}

Activation activation_of(const Image& image, const LockedImage& locked) {
  Activation activation{locked.interpreter, locked.version, locked.path, image.variables, {}};
  std::erase_if(activation.variables, [](const auto& one) { return is_ours(one.first); });
  activation.variables.emplace("PATH", kUsualPath);
  for (const auto& [name, value] : locked.variables) activation.variables[name] = value;
  return activation;
}

}  // namespace

std::string DockerProvider::name() const {
  return definition_.build ? "built from " + definition_.build->dockerfile : definition_.image;
}

// ---- solving ------------------------------------------------------------------------------------

Result<Lock> DockerProvider::solve(Toolbox& tools, const Site& site) {
  TRY_ASSIGN(const ContainerEngine engine, ContainerEngine::find(tools));
  Lock lock;
  lock.provider = "docker";
  lock.platform = site.platform;
  lock.solver = engine.name();
  lock.image.emplace().name = name();
  lock.image->node = io::host_name();
  TRY(record(engine, site, {site.image.tag}));
  TRY_ASSIGN(const Image image,
             definition_.build ? built(tools, engine, site) : found(tools, engine, site, lock));
  TRY(check_machine(image, name()));
  lock.image->id = image.id;
  TRY(engine.tag(image.id, site.image.tag));
  if (definition_.conda) {
    TRY_ASSIGN(const ImageProbe probed, probe(tools, engine, site, image.id));
    TRY(add_conda(tools, engine, site, *definition_.conda, probed.glibc, lock));
  }
  if (!site.image.tree.empty() && lock.image->digest.empty()) TRY(share(engine, site, *lock.image));
  tools.say(fmt::format("solved: the image {} is {}{}", lock.image->name, lock.image->id,
                        lock.image->digest.empty() ? "" : ", " + lock.image->digest));
  return lock;
}

Result<Image> DockerProvider::found(Toolbox& tools, const ContainerEngine& engine, const Site& site,
                                    Lock& lock) const {
  const std::string& name = definition_.image;
  if (const Status good = check_image_name(name); !good) return good.error();
  TRY_ASSIGN(auto image, engine.inspect(name));
  const bool is_ours = image && image->digests.empty();  // the image was never in a registry
  bool was_pulled = false;
  if (!image || (site.is_rebuild && !is_ours)) {
    const Status pulled = image ? engine.pull(name) : pull(engine, site, name);
    was_pulled = pulled.has_value();
    if (!pulled && !image) return pulled.error();
    TRY(tools.go_on());
    if (!pulled) tools.say(fmt::format("using {} as this node has it", name));
    TRY_ASSIGN(image, must_have(engine, name));
  }
  lock.image->digest = digest_of(*image, name);
  // Other nodes will pull the image. Engines may give a digest to an image that was never pushed to
  // a registry, so the registry is asked.
  const bool must_be_there = !site.image.tree.empty() && !was_pulled && !lock.image->digest.empty();
  if (must_be_there && !engine.pull(lock.image->digest)) {
    TRY(tools.go_on());
    tools.say(fmt::format("no registry has {}: sharing the image with the other nodes",
                          lock.image->digest));
    lock.image->digest.clear();
  }
  return *std::move(image);
}

Result<Image> DockerProvider::built(Toolbox& tools, const ContainerEngine& engine,
                                    const Site& site) const {
  const std::string& dockerfile = definition_.build->dockerfile;
  const std::string path = site.image.context + "/" + dockerfile;
  if (dockerfile.starts_with('/') || ("/" + dockerfile + "/").find("/../") != std::string::npos)
    return invalid(fmt::format("the Dockerfile '{}' is not in the build's context", dockerfile));
  // podman runs the C preprocessor on these, which reads the node's files.
  if (dockerfile.ends_with(".in"))
    return invalid(fmt::format("the Dockerfile '{}' may not end with .in", dockerfile));
  if (!io::exists(path))
    return invalid(fmt::format("there is no '{}' in the build's context", dockerfile));
  TRY(check_files_of_client(site.image.context, dockerfile));
  TRY_ASSIGN(const std::string text, io::read_file(path, kMaxDockerfileBytes));
  const bool is_remote =
      !tools.variable("CONTAINER_HOST").empty() || !tools.variable("CONTAINER_CONNECTION").empty();
  const bool is_leaky =
      engine.mounts_lead_out() && tools.variable("LOCKSTEP_PODMAN_MOUNTS") != "allow";
  TRY(check_dockerfile(text, {engine.container().is_podman, is_remote,
                              is_leaky ? std::string_view(engine.name()) : std::string_view()}));
  TRY_ASSIGN(const std::string scratch, scratch_of(tools));
  TRY_ASSIGN(const std::string id, engine.build({site.image.context, path, site.image.tag, scratch,
                                                 site.is_rebuild, site.image.user}));
  return must_have(engine, id);
}

// ---- building -----------------------------------------------------------------------------------

Result<bool> DockerProvider::wants_tree(Toolbox& tools, const Site& site, const Lock& lock) {
  if (!lock.image) return make_error(ErrorCode::corrupt, "the environment's lock names no image");
  TRY_ASSIGN(const ContainerEngine engine, ContainerEngine::find(tools));
  TRY_ASSIGN(const auto here, look_for(engine, *lock.image));
  if (here) return false;
  if (!lock.image->digest.empty()) {
    const Status pulled = pull(engine, site, lock.image->digest);
    if (pulled) return false;
    if (!lock.image->in_tree) return pulled.error();
    TRY(tools.go_on());
  }
  if (!lock.image->in_tree) return nowhere(engine, *lock.image);
  tools.show("fetching the image from the launcher and other nodes");
  return true;
}

Result<Activation> DockerProvider::build(Toolbox& tools, const Site& site, const Lock& lock) {
  if (!lock.image) return make_error(ErrorCode::corrupt, "the environment's lock names no image");
  const LockedImage& locked = *lock.image;
  TRY_ASSIGN(const ContainerEngine engine, ContainerEngine::find(tools));
  TRY_ASSIGN(auto image, look_for(engine, locked));
  if (!image && !site.image.tree.empty()) {
    TRY(record(engine, site, {site.image.tag}));
    TRY(engine.load(site.image.tree, std::string(kImageFolder)));
    TRY_ASSIGN(image, look_for(engine, locked));
    if (!image)
      return invalid(fmt::format(
          "{} of this node gives the image another id than {}, its id on node {}: the two engines "
          "store images in different ways. Push the image to a registry, and use its name there",
          engine.name(), locked.id, locked.node));
  }
  if (!image) return nowhere(engine, locked);
  TRY(check_machine(*image, locked.name));
  say_unused(tools, *image);
  TRY(record(engine, site, {site.image.tag}, image->bytes));
  TRY(engine.tag(image->id, site.image.tag));
  TRY_ASSIGN(const ImageProbe probed, probe(tools, engine, site, image->id));
  Activation activation = activation_of(*image, locked);
  activation.container = engine.container();
  activation.container->image = image->id;
  activation.container->shell = probed.shell;
  activation.container->unlimited_memlock = probed.unlimited_memlock;
  activation.container->memlock_is_unlimited = probed.memlock_is_unlimited;
  if (!activation.container->limits_memory)
    tools.say(
        "this node's container engine cannot limit memory; the job's memory limit is not applied");
  return activation;
}

}  // namespace lockstep::envs
