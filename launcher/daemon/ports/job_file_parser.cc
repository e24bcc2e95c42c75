#include "launcher/daemon/ports/job_file_parser.h"

#include <memory>

namespace lockstep::launcher {

namespace {

// One file at a time, because a hostile file may need 240 MiB for a moment. Each waiting file has
// at most kMaxUserMessageBytes.
FairWorkers::Limits limits_of_parser() {
  FairWorkers::Limits limits;
  limits.waiting = {"job files waiting to be checked", 4, 64};
  return limits;
}

}  // namespace

struct JobFileParser::Work {
  CheckJobFile request;
  Then then;
  std::optional<spec::JobFileReading> parsed;
};

JobFileParser::JobFileParser(io::EventLoop& loop) : loop_(loop), worker_(limits_of_parser()) {}

Status JobFileParser::parse(const std::string& principal, CheckJobFile request, Then then) {
  auto work = std::make_shared<Work>(Work{std::move(request), std::move(then), {}});
  return worker_.run(principal, [this, work](const FairWorkers::Pause&) {
    work->parsed.emplace(launcher::parse(work->request));
    loop_.post([work] { work->then(*std::move(work->parsed)); });
  });
}

}  // namespace lockstep::launcher
