#include "launcher/compute/docker/engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include "common/grammar/image_name.h"
#include "common/io/file_system.h"
#include "launcher/compute/tools.h"

namespace lockstep::compute::docker {
namespace {

constexpr Duration kAnswerTimeout = seconds(60);
constexpr Duration kPullTimeout = minutes(14);  // the launcher allows `create` 15 minutes
constexpr std::size_t kFields = 6;              // fields in a line of `ps`

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string find_engine(const std::string& name) {
  if (name.starts_with('/')) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const std::string path = variable("PATH");
  return find_on_path(name, path.empty() ? "/usr/local/bin:/usr/bin:/bin" : path);
}

tl::unexpected<Failed> failed(const std::string& step, Failure code, std::string message) {
  return tl::unexpected(Failed{step, code, std::move(message)});
}

std::string kind_of(const std::string& program) {
  return program.ends_with("podman") ? "podman" : "docker";
}

// Containers mount folders of this machine, so a remote engine cannot be used.
std::string remote_engine() {
  for (const char* name : {"DOCKER_HOST", "CONTAINER_HOST"})
    if (const std::string host = variable(name); !host.empty() && !host.starts_with("unix://"))
      return fmt::format("{} is {}", name, host);
  return "";
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream parts(line);
  for (std::string part; std::getline(parts, part, '\t');) fields.push_back(part);
  fields.resize(kFields);
  return fields;
}

// Makes the reason: "Exited (137) 5 minutes ago" becomes "Exited (137)", so that the text does not
// change.
std::string reason_of(const std::string& status) {
  const auto end = status.find(')');
  return end == std::string::npos ? status.substr(0, status.find(' ')) : status.substr(0, end + 1);
}

// The state of a container, read from the status text, since podman 4.3 has no field for it.
Container::State state_of(const std::string& status) {
  if (status.find("Paused") != std::string::npos) return Container::State::paused;
  if (status.starts_with("Up")) return Container::State::running;
  if (status.starts_with("Exited")) return Container::State::exited;
  return Container::State::other;
}

Container container_from(const std::string& line) {
  const std::vector<std::string> fields = fields_of(line);
  Container container;
  container.id = fields[0];
  container.state = state_of(fields[1]);
  if (container.state != Container::State::running) container.reason = reason_of(fields[1]);
  container.target = fields[2];
  container.machine = fields[3];
  container.bundle = fields[4];
  container.cpus = fields[5];
  return container;
}

// The format of a list. docker has a function for one label; podman 4.3 only has the map of all
// labels.
std::string list_format(bool is_podman) {
  std::string format = "{{.ID}}\t{{.Status}}";
  for (const char* label : {kTargetLabel, kMachineLabel, kBundleLabel, kCpusLabel})
    format += is_podman ? fmt::format("\t{{{{index .Labels \"{}\"}}}}", label)
                        : fmt::format("\t{{{{.Label \"{}\"}}}}", label);
  return format;
}

}  // namespace

std::vector<Container> containers_from(const std::string& text) {
  std::vector<Container> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) found.push_back(container_from(line));
  return found;
}

Attempt<Engine> Engine::open(const std::string& chosen) {
  constexpr const char* kStep = "connect";
  if (const std::string remote = remote_engine(); !remote.empty())
    return failed(kStep, Failure::unsupported,
                  remote + ": the engine has to be one of this machine, at unix://PATH");
  std::vector<std::string> names{"docker", "podman"};
  if (const auto known = io::read_file(chosen, kibibytes(4)); known && !known->empty()) {
    const std::string program = known->substr(0, known->find('\n'));
    return Engine(program, kind_of(program));
  }
  if (const std::string choice = variable("LOCKSTEP_CONTAINER_ENGINE"); !choice.empty())
    names = {choice};
  Failed why{kStep, Failure::unreachable,
             fmt::format("there is no container engine on this machine: {} not on the PATH of the "
                         "launcher. Install one (apt-get install docker.io)",
                         fmt::join(names, " and "), names.size() == 1 ? "is" : "are")};
  bool tried = false;
  for (const std::string& name : names) {
    const std::string program = find_engine(name);
    if (program.empty()) continue;
    const Engine engine(program, kind_of(program));
    const auto answer = engine.run(kStep, {"version"}, kAnswerTimeout);
    if (answer && answer->exit_code == 0) {
      if (const auto kept = io::write_file_atomically(chosen, program + "\n", 0600); !kept)
        return failed(kStep, Failure::failed, kept.error().message);
      return engine;
    }
    // The first error is the one that a person should see.
    if (!tried)
      why = answer ? engine_failure(kStep, engine.name(), answer->errors) : answer.error();
    tried = true;
  }
  return tl::unexpected(why);
}

Attempt<std::vector<Container>> Engine::list(const std::string& launcher) const {
  auto answer = run("connect",
                    {"ps", "--all", "--no-trunc", "--filter",
                     fmt::format("label={}={}", kLauncherLabel, launcher), "--format",
                     list_format(name_ == "podman")},
                    kAnswerTimeout);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->exit_code != 0)
    return tl::unexpected(engine_failure("connect", name_, answer->errors));
  return containers_from(answer->text);
}

Attempt<io::ProgramOutput> Engine::run(const std::string& step, std::vector<std::string> words,
                                       Duration timeout) const {
  words.insert(words.begin(), program_);
  auto answer = io::run_program(words, {.timeout = timeout, .dies_with_us = true});
  if (answer) return *std::move(answer);
  return failed(
      step, answer.error().code == ErrorCode::unavailable ? Failure::timed_out : Failure::failed,
      answer.error().message);
}

Attempt<void> Engine::pull(const std::string& image) const {
  const std::string tagged = tagged_image_name(image);
  const auto answer =
      run("pull", {"pull", name_ == "podman" ? full_image_name(tagged) : tagged}, kPullTimeout);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->exit_code == 0) return {};
  Failed why = engine_failure("pull", name_, answer->errors);
  why.message =
      fmt::format("the image {} is not here, and cannot be pulled: {}", image, why.message);
  return tl::unexpected(why);
}

Attempt<void> Engine::find_image(const std::string& image) const {
  const std::string name = tagged_image_name(image);
  const auto here = run("check", {"image", "inspect", "--format", "{{.Id}}", name}, kAnswerTimeout);
  if (!here) return tl::unexpected(here.error());
  if (here->exit_code == 0) return {};
  if (!says_no_such_image(here->errors))
    return tl::unexpected(engine_failure("check", name_, here->errors));
  const auto away =
      run("check", {"manifest", "inspect", name_ == "podman" ? full_image_name(name) : name},
          kAnswerTimeout);
  if (!away) return tl::unexpected(away.error());
  if (away->exit_code == 0) return {};
  Failed why = engine_failure("check", name_, away->errors);
  why.message =
      fmt::format("the image {} is neither here nor in its registry: {}", image, why.message);
  return tl::unexpected(why);
}

Attempt<void> Engine::remove(const std::string& id, Duration grace) const {
  const auto wait = std::chrono::duration_cast<std::chrono::seconds>(grace).count();
  // The result is ignored: what does not stop is killed below.
  if (wait > 0) (void)run("remove", {"stop", "-t", std::to_string(wait), id}, grace + minutes(1));
  const auto answer = run("remove", {"rm", "-f", "-v", id}, minutes(2));
  if (!answer) return tl::unexpected(answer.error());
  if (answer->exit_code == 0 || says_no_such_container(answer->errors)) return {};
  return tl::unexpected(engine_failure("remove", name_, answer->errors));
}

bool says_no_such_image(std::string_view errors) {
  return has_any(errors, {"no such image", "image not known", "unable to find image"});
}

bool says_no_such_container(std::string_view errors) {
  return has_any(errors, {"no such container", "no container with name or id"});
}

Failed engine_failure(const std::string& step, const std::string& engine, std::string_view errors) {
  const std::string line = last_line(errors);
  const auto is = [&](Failure code, const std::string& message) {
    return Failed{step, code, message};
  };
  if (has_any(errors, {"permission denied while trying to connect", "got permission denied"}))
    return is(Failure::no_permission,
              fmt::format("{} does not let the launcher's account in: {}. Add the account to the "
                          "group docker, or use rootless podman",
                          engine, line));
  if (has_any(errors, {"cannot connect to the docker daemon", "is the docker daemon running",
                       "error during connect", "cannot connect to podman"}))
    return is(Failure::unreachable, fmt::format("{} does not answer: {}", engine, line));
  if (has_any(errors, {"no space left on device", "disk quota exceeded"}))
    return is(Failure::no_space, line);
  if (has_any(errors, {"is already in use", "already exists"})) return is(Failure::conflict, line);
  if (has_any(errors, {"dial tcp", "i/o timeout", "connection refused", "connection reset",
                       "no such host", "tls handshake", "network is unreachable",
                       "context deadline", "service unavailable", "toomanyrequests"}))
    return is(Failure::unreachable, "network error: " + line);
  if (has_any(errors,
              {"no such image", "image not known", "manifest unknown", "not found", "name unknown",
               "access denied", "denied:", "unauthorized", "authentication required",
               "no matching manifest", "invalid reference", "exec format error", "range of cpus",
               "unknown flag", "device driver", "no such manifest", "no such file or directory"}))
    return is(Failure::unsupported, line);
  return is(Failure::failed, line.empty() ? engine + " failed and gave no reason" : line);
}

}  // namespace lockstep::compute::docker
