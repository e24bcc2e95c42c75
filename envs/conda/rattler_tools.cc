#include "envs/conda/rattler_tools.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "envs/tool.h"

namespace lockstep::envs {
namespace {

constexpr std::string_view kHalfMade = "making-";  // prefix of folders that are not complete
constexpr std::string_view kProbe =                // keeps a stack trace out of the log
    "import sys; sys.excepthook = lambda *_: None; import rattler";

std::string package() { return fmt::format("py-rattler=={}", kRattlerVersion); }

// Identifies the file of an interpreter, to notice when another takes its place; "": no file.
std::string look_of(const std::string& python) {
  struct stat info {};
  if (::stat(python.c_str(), &info) != 0) return "";
  return fmt::format("{} {} {}.{}\n", info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec);
}

// Whether the installed tools work. python3 may have been replaced by a newer one, so it is started
// once to find that out.
Result<bool> works(Toolbox& tools, const std::string& home) {
  const std::string python = home + "/bin/python", worked = home + "/worked";
  const std::string look = look_of(python);
  if (look.empty()) return false;
  if (io::read_file(worked).value_or("") == look) return true;
  TRY_ASSIGN(const Toolbox::Answer answer, tools.run({python, "-I", "-c", std::string(kProbe)}));
  if (answer.exit_code != 0) return false;
  TRY(io::write_file_atomically(worked, look, 0644, false));
  return true;
}

// Adds the advice to mend the node to an error of this node, not of the definition.
Error with_advice(Error error) {
  if (error.code != ErrorCode::resource_exhausted && error.code != ErrorCode::conflict)
    error.code = ErrorCode::unavailable;
  error.message += fmt::format(
      "\nconda environments need {} from the index of Python packages (to use another index, set "
      "PIP_INDEX_URL for the agent), and python3 3.10 or newer",
      package());
  return error;
}

Status make(Toolbox& tools, const std::string& cache, const std::string& folder) {
  const std::string python = folder + "/bin/python";
  if (const std::string uv = tools.find("uv"); !uv.empty()) {
    tools.set("UV_CACHE_DIR", cache + "/uv");
    TRY(run_tool(tools, {uv, "venv", "--python", "python3", folder},
                 "uv could not make a virtual environment for the tools"));
    return run_tool(tools,
                    {uv, "pip", "install", "--python", python, "--only-binary", ":all:", package()},
                    "uv could not install the tools for conda environments");
  }
  if (tools.find("python3").empty())
    return make_error(ErrorCode::not_found, "there is no python3 on PATH to make tools with");
  TRY(make_venv(tools, "python3", folder));
  tools.set("PIP_NO_INPUT", "1");
  tools.set("PIP_CACHE_DIR", cache + "/pip");
  return run_tool(tools,
                  {python, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar",
                   "off", "--only-binary", ":all:", package()},
                  "pip could not install the tools for conda environments");
}

}  // namespace

Result<std::string> rattler_python(Toolbox& tools, const std::string& cache) {
  const std::string root = cache + "/tools";
  const std::string home = fmt::format("{}/rattler-{}", root, kRattlerVersion);
  const std::string python = home + "/bin/python";
  TRY_ASSIGN(bool ready, works(tools, home));
  if (ready) return python;
  TRY(io::make_directories(root));
  TRY_ASSIGN(
      const io::FileLock lock,
      lock_of(tools, home + ".lock", "another build installs the tools for conda: waiting for it"));
  TRY_ASSIGN(ready, works(tools, home));
  if (ready) return python;
  TRY_ASSIGN(const std::vector<std::string> names, io::list_directory(root));
  // A process that was killed left these; its children may still write there.
  for (const std::string& name : names)
    if (name.starts_with(kHalfMade)) static_cast<void>(io::remove_tree(root + "/" + name));
  const std::string beside = fmt::format("{}/{}{}", root, kHalfMade, ::getpid());
  tools.say(fmt::format("installing {} for conda environments, once for this node", package()));
  if (auto made = make(tools, cache, beside); !made) return with_advice(std::move(made).error());
  TRY_ASSIGN(ready, works(tools, beside));
  if (!ready)
    return with_advice(make_error(ErrorCode::invalid_argument,
                                  fmt::format("{} does not start on this node", package())));
  TRY(io::remove_tree(home));
  if (io::disk::rename(beside.c_str(), home.c_str()) != 0)
    return make_error(ErrorCode::io, fmt::format("keeping {}: {}", home, std::strerror(errno)));
  // Shows another text: otherwise the last line of pip's output would stay in view.
  tools.show(fmt::format("starting {}", package()));
  return python;
}

}  // namespace lockstep::envs
