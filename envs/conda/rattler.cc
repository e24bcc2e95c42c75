#include "envs/conda/rattler.h"

#include <fmt/format.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "common/io/file_system.h"
#include "envs/conda/engine_files.h"
#include "envs/conda/rattler_tools.h"
#include "envs/order.h"
#include "envs/tool.h"

namespace lockstep::envs {
namespace {

using nlohmann::json;

// Throws json::exception.
LockedCondaPackage package_from(const json& from) {
  return {from.at("name"),   from.at("version"), from.at("build"),        from.at("url"),
          from.at("sha256"), from.at("size"),    from.at("record").dump()};
}

constexpr int kRefused = 1;
constexpr int kAborted = 128 + SIGABRT;  // exit code after a panic in one of rattler's threads

// ": " and the message of Rust's panic, from the line after it; "" without a panic.
std::string panic_in(std::string_view log) {
  const std::size_t at = log.find(" panicked at ");
  const std::size_t begin = at == log.npos ? at : log.find('\n', at);
  if (begin == log.npos) return "";
  const std::string_view rest = log.substr(begin + 1);
  return fmt::format(": {}", rest.substr(0, rest.find('\n')));
}

json as_json(const LockedCondaPackage& package) {
  return {{"url", package.url},
          {"sha256", package.sha256},
          {"size", package.size},
          {"record", json::parse(package.record)}};
}

class RattlerBackend final : public CondaBackend {
 public:
  RattlerBackend(Toolbox& tools, const Site& site, std::string scratch, std::string python)
      : tools_(tools), site_(site), scratch_(std::move(scratch)), python_(std::move(python)) {}

  std::string name() const override { return fmt::format("py-rattler {}", kRattlerVersion); }

  Result<std::vector<LockedCondaPackage>> solve(const CondaEnvironment& definition) override {
    const CondaPlatform platform = conda_platform_of(site_.platform);
    json order{{"channels", definition.channels},
               {"strict", definition.strict_priority},
               {"specs", definition.dependencies},
               {"locked", nullptr},
               {"virtual_packages", platform.virtual_packages}};
    if (!definition.locked.empty()) {
      TRY_ASSIGN(order["locked"], locked_for(definition, platform.subdir));
    }
    TRY_ASSIGN(const json answer, run("solve", std::move(order)));
    std::vector<LockedCondaPackage> packages;
    try {
      for (const json& package : answer.at("packages")) packages.push_back(package_from(package));
    } catch (const json::exception& failure) {
      return make_error(ErrorCode::internal,
                        fmt::format("cannot read py-rattler's answer: {}", failure.what()));
    }
    return packages;
  }

  Result<std::vector<std::string>> missing(
      const std::vector<LockedCondaPackage>& packages) override {
    TRY_ASSIGN(const json answer, run("missing", order_of(packages)));
    try {
      return answer.at("missing").get<std::vector<std::string>>();
    } catch (const json::exception& failure) {
      return make_error(ErrorCode::internal,
                        fmt::format("cannot read py-rattler's answer: {}", failure.what()));
    }
  }

  Status fetch(const std::vector<LockedCondaPackage>& packages) override {
    TRY(run("fetch", order_of(packages)));
    return {};
  }

  Status install(const std::vector<LockedCondaPackage>& packages) override {
    json order = order_of(packages);
    order["prefix"] = site_.prefix;
    TRY(run("install", std::move(order)));
    return {};
  }

 private:
  json order_of(const std::vector<LockedCondaPackage>& packages) const {
    json order{{"is_rebuild", site_.is_rebuild},
               {"archives", site_.shared.archives},
               {"wanted", site_.shared.wanted},
               {"fetched", site_.shared.fetched},
               {"packages", json::array()}};
    for (const LockedCondaPackage& package : packages)
      order["packages"].push_back(as_json(package));
    return order;
  }

  Result<json> run(const std::string& what, json order) {
    order["subdir"] = conda_platform_of(site_.platform).subdir;
    order["cache"] = site_.cache + "/conda";
    order["scratch"] = scratch_;
    const std::string program = scratch_ + "/engine";
    const std::string asked = fmt::format("{}/{}.json", scratch_, what);
    const std::string result = fmt::format("{}/{}-result.json", scratch_, what);
    TRY(io::make_directories(program));
    for (const EngineFile& file : kEngineFiles)
      TRY(io::write_file_atomically(fmt::format("{}/{}", program, file.name), file.text, 0644,
                                    false));
    TRY(io::write_file_atomically(asked, order.dump(-1, ' ', false, json::error_handler_t::replace),
                                  0600, false));
    TRY_ASSIGN(const Toolbox::Answer answer,
               tools_.run({python_, "-I", "-u", program, what, asked, result}));
    const auto text = io::read_file(result);
    json said = text ? json::parse(*text, nullptr, false) : json();
    if (answer.exit_code == 0 && said.is_object()) return said;
    const bool has_answered = answer.exit_code == kRefused || answer.exit_code == kAborted;
    if (!has_answered || !said.is_object() || !said.contains("message"))
      return tool_failure(fmt::format("py-rattler ({}) gave no answer", what), answer);
    std::string message = said.value("message", "");
    if (const std::string panic = panic_in(answer.tail); message.find(panic) == message.npos)
      message += panic;
    return make_error(error_code_from(said.value("code", "")), message);
  }

  Toolbox& tools_;
  const Site site_;
  const std::string scratch_;
  const std::string python_;
};

}  // namespace

Result<std::unique_ptr<CondaBackend>> make_rattler_backend(Toolbox& tools, const Site& site,
                                                           const std::string& scratch) {
  TRY_ASSIGN(std::string python, rattler_python(tools, site.cache));
  return std::make_unique<RattlerBackend>(tools, site, scratch, std::move(python));
}

}  // namespace lockstep::envs
