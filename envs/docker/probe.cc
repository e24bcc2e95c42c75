#include "envs/docker/probe.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "common/domain/environment/container_places.h"
#include "common/io/process.h"
#include "envs/docker/failure.h"

namespace lockstep::envs {
namespace {

constexpr const char* kNobody = "65534:65534";
constexpr const char* kUnlimited = "unlimited";

std::map<std::string, std::string> answers_of(const std::string& text) {
  std::map<std::string, std::string> answers;
  std::istringstream lines(text);
  for (std::string key, value; lines >> key >> value;) answers[key] = value;
  return answers;
}

// The job's user, as for its ranks; never root. In a rootless container, root is the agent's user,
// and other users may not exist.
std::string user_in_container(const ContainerEngine& engine, const Site& site) {
  if (engine.container().is_rootless) return "0:0";
  const auto user = site.image.user.empty() ? io::current_user() : io::find_user(site.image.user);
  if (!user || user->uid == 0) return kNobody;
  return fmt::format("{}:{}", user->uid, user->gid);
}

Words options_for(const ContainerEngine& engine, const Site& site) {
  const auto self = io::identify(::getpid());
  std::string process = self ? io::to_text(*self) : "";
  process.resize(std::min(process.size(), process.find('\n')));
  return {"--user",
          user_in_container(engine, site),
          "--security-opt",
          "no-new-privileges",
          "--security-opt",
          "label=disable",
          "--label",
          "lockstep.home=" + site.image.home,
          "--label",
          "lockstep.process=" + process,
          "--mount",
          fmt::format("type=bind,source={},target={},readonly", site.image.spawn, kSpawnInside),
          "--entrypoint",
          kSpawnInside};
}

}  // namespace

Result<ImageProbe> probe(Toolbox& tools, const ContainerEngine& engine, const Site& site,
                         const std::string& id) {
  tools.show("starting a container of the image, to see what it can do here");
  const Words options = options_for(engine, site);
  TRY_ASSIGN(Toolbox::Answer answer,
             engine.run_once(joined({"--ulimit", "memlock=-1:-1"}, options), {id, "--probe"}));
  const bool is_refused = answer.exit_code != 0;
  if (is_refused) {
    tools.say(
        "the engine does not start the container with unlimited locked memory; trying without");
    TRY_ASSIGN(answer, engine.run_once(options, {id, "--probe"}));
  }
  auto answers = answers_of(answer.output);
  if (answer.exit_code != 0 || !answers.contains("memlock"))
    return engine_failure(
        fmt::format("could not start a container of the image {} with {}", id, engine.name()),
        answer);
  ImageProbe found;
  found.shell = answers["bash"] == "yes" ? "/bin/bash" : answers["sh"] == "yes" ? "/bin/sh" : "";
  found.glibc = answers["glibc"] == "-" ? "" : answers["glibc"];
  found.memlock_is_unlimited = answers["memlock"] == kUnlimited;
  found.unlimited_memlock = !is_refused && found.memlock_is_unlimited;
  tools.say(fmt::format("the image has {} and {}", found.shell.empty() ? "no shell" : found.shell,
                        found.glibc.empty() ? "no glibc" : "glibc " + found.glibc));
  if (!found.memlock_is_unlimited)
    tools.say(
        fmt::format("locked memory is limited in containers here ({} bytes): RDMA may need more; "
                    "to raise this limit, set LimitMEMLOCK=infinity for the engine's service",
                    answers["memlock"]));
  return found;
}

}  // namespace lockstep::envs
