#include "launcher/daemon/job_file_parser.h"

#include <memory>

namespace lockstep::launcher {

namespace {

constexpr int kMaxWaiting = 32, kMaxWaitingOfUser = 4;  // each has at most kMaxUserMessageBytes

}  // namespace

struct JobFileParser::Work {
  CheckJobFile request;
  Then then;
  std::optional<Result<spec::JobFile>> parsed;
};

JobFileParser::JobFileParser(io::EventLoop& loop) : loop_(loop) {}

Status JobFileParser::parse(const std::string& user, CheckJobFile request, Then then) {
  if (all_waiting_ >= kMaxWaiting || waiting_[user] >= kMaxWaitingOfUser)
    return make_error(
        ErrorCode::resource_exhausted,
        "the launcher is already checking as many job files as it can; ask again in a moment");
  ++all_waiting_;
  ++waiting_[user];
  auto work = std::make_shared<Work>(Work{std::move(request), std::move(then), {}});
  worker_.run([this, user, work] {
    work->parsed.emplace(launcher::parse(work->request));
    loop_.post([this, user, work] {
      --all_waiting_;
      if (--waiting_[user] == 0) waiting_.erase(user);
      work->then(*std::move(work->parsed));
    });
  });
  return {};
}

}  // namespace lockstep::launcher
