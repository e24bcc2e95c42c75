#include "agent/environment/container_engine.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "common/io/programs/run_program.h"
#include "envs/docker/failure.h"

namespace lockstep::agent {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

constexpr Duration kAnswersWithin = seconds(30);
constexpr std::size_t kInspectedAtOnce = 64;

Result<io::ProgramOutput> run(const EngineProgram& engine, const Words& words) {
  Words all{"/usr/bin/env", "-i"};
  for (const auto& [name, value] : engine.variables) all.push_back(name + "=" + value);
  all.push_back(engine.path);
  all.insert(all.end(), words.begin(), words.end());
  auto output = io::run_program(all, kAnswersWithin);
  if (!output)
    return make_error(
        ErrorCode::unavailable,
        fmt::format("the container engine of this node ({}) does not answer: {}; check its daemon",
                    engine.path, output.error().message));
  return output;
}

Error failure(const EngineProgram& engine, const Words& words, const io::ProgramOutput& output) {
  return make_error(ErrorCode::unavailable,
                    fmt::format("{} {} exited with {}: {}", engine.path, fmt::join(words, " "),
                                output.exit_code, output.errors));
}

Result<std::string> must_run(const EngineProgram& engine, const Words& words) {
  TRY_ASSIGN(io::ProgramOutput output, run(engine, words));
  if (output.exit_code != 0) return failure(engine, words, output);
  return std::move(output.text);
}

// Parses "<id> {labels}"; nullopt for another kind of line.
std::optional<OwnContainer> container_from(const std::string& line) {
  const auto blank = line.find(' ');
  const json labels =
      blank == std::string::npos ? json() : json::parse(line.substr(blank + 1), nullptr, false);
  if (!labels.is_object()) return std::nullopt;
  OwnContainer container{line.substr(0, blank), {}};
  for (const auto& [name, value] : labels.items())
    if (value.is_string()) container.labels[name] = value;
  return container;
}

}  // namespace

Result<ImageHere> look_for_image(const EngineProgram& engine, const std::string& id,
                                 const std::string& name) {
  Words words{"image", "inspect", "--format", "{{.Id}}", id};
  if (!name.empty()) words.push_back(name);
  TRY_ASSIGN(const io::ProgramOutput output, run(engine, words));
  // Podman leaves out the kind of digest.
  const auto same = [&](const std::string& said) { return id.ends_with(said); };
  std::istringstream said(output.text);
  ImageHere found;
  for (std::string line; std::getline(said, line);) {
    if (line.empty()) continue;
    if (same(line)) {
      found.is_here = true;
    } else {
      found.named_now = line;
    }
  }
  if (found.is_here || output.exit_code == 0 || envs::says_no_such_image(output.errors))
    return found;
  return failure(engine, words, output);
}

Status remove_name(const EngineProgram& engine, const std::string& name) {
  const Words words{"image", "rm", name};
  TRY_ASSIGN(const io::ProgramOutput output, run(engine, words));
  if (output.exit_code == 0 || envs::says_no_such_image(output.errors)) return {};
  return failure(engine, words, output);
}

Result<std::vector<OwnContainer>> containers_with(const EngineProgram& engine,
                                                  const std::string& label) {
  TRY_ASSIGN(const std::string text, must_run(engine, {"ps", "--all", "--quiet", "--no-trunc",
                                                       "--filter", "label=" + label}));
  Words ids;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && ids.size() < kInspectedAtOnce;)
    ids.push_back(line);
  if (ids.empty()) return std::vector<OwnContainer>();
  Words words{"container", "inspect", "--format", "{{.Id}} {{json .Config.Labels}}"};
  words.insert(words.end(), ids.begin(), ids.end());
  // If a container was removed meanwhile, the command fails but still prints the others.
  TRY_ASSIGN(const io::ProgramOutput output, run(engine, words));
  std::vector<OwnContainer> containers;
  std::istringstream said(output.text);
  for (std::string line; std::getline(said, line);)
    if (auto container = container_from(line)) containers.push_back(*std::move(container));
  return containers;
}

Status remove_container(const EngineProgram& engine, const std::string& id) {
  TRY(must_run(engine, {"rm", "--force", "--volumes", id}));
  return {};
}

}  // namespace lockstep::agent
