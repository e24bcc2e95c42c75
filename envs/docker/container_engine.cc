#include "envs/docker/container_engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "common/base/digest.h"
#include "common/grammar/image_name.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "envs/docker/failure.h"
#include "envs/docker/image_archive.h"
#include "envs/docker/info.h"
#include "envs/docker/layers.h"

namespace lockstep::envs {
namespace {

using nlohmann::json;

constexpr const char* kInfoWithin = "30";  // seconds
constexpr int kTimedOut = 124;             // exit code of coreutils' timeout
constexpr std::string_view kSha256 = "sha256:";

bool is_name(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

std::string with_sha256(const std::string& id) {
  return id.starts_with(kSha256) ? id : std::string(kSha256) + id;
}

// A member of Go's JSON, in which empty lists and objects are null.
const json& member(const json& from, const char* name) {
  static const json none;
  return from.contains(name) ? from.at(name) : none;
}

Image image_from(const json& from) {
  Image image;
  image.id = with_sha256(from.at("Id"));
  image.architecture = from.value("Architecture", "");
  image.bytes = from.value("Size", std::uint64_t{0});
  for (const json& digest : member(from, "RepoDigests"))
    // podman writes this for an image that no registry has.
    if (const auto text = digest.get<std::string>(); !text.starts_with("localhost/"))
      image.digests.push_back(text);
  const json& config = member(from, "Config");
  for (const json& one : member(config, "Env")) {
    const auto text = one.get<std::string>();
    const auto equals = text.find('=');
    if (equals != std::string::npos && is_name(text.substr(0, equals)))
      image.variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  if (const json& user = member(config, "User"); user.is_string()) image.user = user;
  image.has_entrypoint = !member(config, "Entrypoint").empty();
  image.has_volumes = !member(config, "Volumes").empty();
  return image;
}

Error broken(const std::string& program, std::string_view why) {
  return make_error(ErrorCode::unavailable, fmt::format("{} does not answer: {}", program, why));
}

// Whether the variables choose another engine of docker, whose images it would use.
bool is_docker_set_up(const Toolbox& tools) {
  for (const char* name : {"DOCKER_HOST", "DOCKER_CONTEXT"})
    if (!tools.variable(name).empty()) return true;
  const std::string runtime = tools.variable("XDG_RUNTIME_DIR");
  return io::exists("/var/run/docker.sock") ||
         (!runtime.empty() && io::exists(runtime + "/docker.sock"));
}

}  // namespace

// ---- which one ----------------------------------------------------------------------------------

Result<ContainerEngine> ContainerEngine::ask(Toolbox& tools, const std::string& program) {
  tools.show("asking " + program);
  const Words words = joined({program}, {std::begin(kInfoWords), std::end(kInfoWords)});
  TRY_ASSIGN(const Toolbox::Answer answer,
             tools.run(joined({"timeout", "--kill-after=5", kInfoWithin}, words),
                       Toolbox::Output::wanted));
  if (answer.exit_code == kTimedOut)
    return broken(program, fmt::format("it said nothing for {} s; check its daemon", kInfoWithin));
  auto info = engine_info_from(answer.output, last_words(answer.tail));
  if (!info) return broken(program, info.error().message);
  ContainerEngine engine(tools);
  engine.name_ = info->name;
  engine.container_.engine = program;
  engine.container_.is_podman = info->is_podman;
  engine.container_.is_rootless = info->is_rootless;
  engine.container_.limits_memory = info->limits_memory;
  engine.container_.gpus = info->gpus;
  engine.has_buildx_ = info->has_buildx;
  engine.mounts_lead_out_ = info->mounts_lead_out;
  for (const auto& [name, value] : tools.variables())
    if (name == "PATH" || name == "HOME" || is_engine_variable(name))
      engine.container_.variables.emplace(name, value);
  // podman leaves one process running for each container; rootless podman leaves one more for its
  // user.
  if (engine.container_.is_podman) tools.await_leftovers({"catatonit", "conmon"});
  return engine;
}

Result<ContainerEngine> ContainerEngine::find(Toolbox& tools) {
  const std::string choice = tools.variable("LOCKSTEP_CONTAINER_ENGINE");
  const Words names = choice.empty() ? Words{"docker", "podman"} : Words{choice};
  std::string why;
  for (const std::string& name : names) {
    const std::string program = tools.find(name);
    if (!program.starts_with('/')) continue;
    auto engine = ask(tools, program);
    if (engine) {
      const auto user = io::current_user();
      tools.say(fmt::format("images are made by {} ({}), as user {}", engine->name(), program,
                            user ? user->name : std::to_string(::geteuid())));
      return engine;
    }
    TRY(tools.go_on());
    why += (why.empty() ? "" : "; ") + engine.error().message;
    tools.say(engine.error().message);
    if (name == "docker" && is_docker_set_up(tools)) break;
  }
  if (!why.empty())
    return make_error(
        ErrorCode::unavailable,
        fmt::format("no container engine answers on this node: {}. {}", why, engine_advice(why)));
  if (!choice.empty())
    return make_error(ErrorCode::unavailable,
                      fmt::format("LOCKSTEP_CONTAINER_ENGINE of the agent is '{}', which is "
                                  "neither on its PATH nor the absolute path of a program",
                                  choice));
  return make_error(ErrorCode::unavailable,
                    "there is no container engine on this node: neither docker nor podman is on "
                    "the agent's PATH; install one (apt-get install podman)");
}

// ---- images -------------------------------------------------------------------------------------

Result<Toolbox::Answer> ContainerEngine::run(const Words& words, Toolbox::Output output) const {
  return tools_->run(joined({program()}, words), output);
}

Result<std::optional<Image>> ContainerEngine::inspect(const std::string& name) const {
  TRY_ASSIGN(const Toolbox::Answer answer,
             run({"image", "inspect", tagged_image_name(name)}, Toolbox::Output::wanted));
  if (answer.exit_code != 0 && says_no_such_image(answer.tail)) return std::optional<Image>();
  if (answer.exit_code != 0)
    return engine_failure(fmt::format("{} could not look for the image {}", name_, name), answer);
  try {
    return std::optional<Image>(image_from(json::parse(answer.output).at(0)));
  } catch (const json::exception& failure) {
    return broken(program(), failure.what());
  }
}

Status ContainerEngine::pull(const std::string& name) const {
  tools_->show("pulling " + name);
  const std::string asked = tagged_image_name(name);
  Layers layers;
  TRY_ASSIGN(const Toolbox::Answer answer,
             tools_->run_and_read(
                 {program(), "pull", container_.is_podman ? full_image_name(asked) : asked},
                 [&](std::string_view line) { return layers.read(line); }));
  if (answer.exit_code == 0) return {};
  return pull_failure(name, name_, answer);
}

Result<std::string> ContainerEngine::build(const ImageOrder& order) const {
  const std::string id_file = order.scratch + "/image-id";
  TRY(io::remove_tree(id_file));
  Words words{"build", "--pull=false", "--force-rm", "--iidfile",     id_file,
              "--tag", order.tag,      "--file",     order.dockerfile};
  if (order.from_nothing) words.push_back("--no-cache");
  if (container_.is_podman) {
    // In docker's format the image has the same id.
    words.insert(words.end(), {"--format", "docker"});
  } else if (has_buildx_) {
    // BuildKit's own frontend puts this argument before the id of each cache mount. podman keeps
    // cache mounts in TMPDIR, which belongs to one build.
    words.insert(words.end(), {"--progress", "plain", "--load", "--build-arg",
                               fmt::format("BUILDKIT_CACHE_MOUNT_NS=lockstep-{}",
                                           sha256("account " + order.account).hex())});
  } else {
    tools_->set("DOCKER_BUILDKIT", "0");
  }
  // buildx runs git in the context. Its .git is the user's, and git's configuration may name
  // programs to run.
  tools_->set("BUILDX_GIT_INFO", "false");
  tools_->set("BUILDX_GIT_LABELS", "false");
  tools_->set("GIT_DIR", "/dev/null");
  words.push_back(order.context);
  tools_->show("building the image");
  TRY_ASSIGN(const Toolbox::Answer answer, run(words));
  if (answer.exit_code != 0) return build_failure("the image could not be built", answer);
  TRY_ASSIGN(const std::string id, io::read_file(id_file));
  return with_sha256(id.substr(0, id.find('\n')));
}

// Saves an image through a pipe, since the disk may not have room for it twice.
Status ContainerEngine::save(const std::string& id, const std::string& folder) const {
  TRY_ASSIGN(io::Folder to, io::Folder::open(folder));
  ImageUnpacker unpacker(std::move(to));
  Words words{program(), "save"};
  if (container_.is_podman) words.emplace_back("--format=docker-archive");
  words.push_back(id);
  tools_->show("saving the image");
  TRY_ASSIGN(
      const Toolbox::Answer answer,
      tools_->run_with(words, {{}, [&](std::string_view bytes) { return unpacker.take(bytes); }}));
  if (answer.exit_code != 0)
    return engine_failure(fmt::format("{} could not save the image {}", name_, id), answer);
  return unpacker.finish();
}

Status ContainerEngine::load(const std::string& folder, const std::string& inner) const {
  TRY_ASSIGN(const io::Folder outer, io::Folder::open(folder));
  TRY_ASSIGN(io::Folder from, outer.enter(inner));
  TRY_ASSIGN(ImagePacker packer, ImagePacker::open(std::move(from)));
  tools_->show("loading the image");
  TRY_ASSIGN(const Toolbox::Answer answer,
             tools_->run_with({program(), "load"}, {[&] { return packer.next(); }, {}}));
  if (answer.exit_code == 0) return {};
  return engine_failure(fmt::format("{} could not load the image", name_), answer);
}

Status ContainerEngine::tag(const std::string& id, const std::string& tag) const {
  TRY_ASSIGN(const Toolbox::Answer answer, run({"tag", id, tag}));
  if (answer.exit_code == 0) return {};
  return engine_failure(fmt::format("{} could not tag the image {}", name_, id), answer);
}

Result<Toolbox::Answer> ContainerEngine::run_once(const Words& options, const Words& rest) const {
  const std::string name = fmt::format("lockstep-probe-{:016x}", io::random_u64());
  const Words words =
      joined({"run", "--rm", "--pull", "never", "--name", name, "--network", "host"}, options);
  auto answer = run(joined(words, rest), Toolbox::Output::wanted);
  // If the program was killed, the container may still run.
  if (!answer) tools_->clean_up({program(), "rm", "--force", name});
  return answer;
}

}  // namespace lockstep::envs
