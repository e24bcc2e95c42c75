#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <cstdio>

#include "common/io/log_sink.h"
#include "launcher/daemon/daemon.h"
#include "launcher/tools/commands.h"

int main(int argc, char** argv) {
  using namespace lockstep::launcher;
  namespace io = lockstep::io;
  ::umask(077);  // files of SQLite, and copies of them, must not be readable by others
  if (const auto code = run_tool(argc, argv)) return *code;
  const auto parsed = parse_options(argc, argv);
  if (const auto* leave = std::get_if<Leave>(&parsed)) {
    std::fputs(leave->text.c_str(), leave->code == ExitCode::ok ? stdout : stderr);
    return static_cast<int>(leave->code);
  }
  const auto& options = std::get<Options>(parsed);
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_st>();
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("lockstepd", io::printable_sink(std::move(sink))));
  spdlog::set_level(spdlog::level::from_str(options.log_level));
  return static_cast<int>(run_daemon(options));
}
