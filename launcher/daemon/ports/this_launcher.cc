#include "launcher/daemon/ports/this_launcher.h"

#include <utility>

#include "launcher/daemon/keys/join_tokens.h"
#include "launcher/daemon/work/principal.h"

namespace lockstep::launcher {

LauncherInfo ThisLauncher::info() const {
  LauncherInfo info = parts_.info;
  info.disk_free = parts_.space.space().free;
  info.low_space = parts_.space.low();
  info.low_reason = parts_.space.refusal();
  info.writes = parts_.durable.writes();
  return info;
}

NewToken ThisLauncher::make_token(Duration valid_for) {
  return make_join_token(parts_.token, parts_.durable.now() + valid_for);
}

Status ThisLauncher::parse_job_file(const Caller& caller, CheckJobFile request,
                                    JobFileParser::Then then) {
  return parts_.job_files.parse(principal_of(caller), std::move(request), std::move(then));
}

}  // namespace lockstep::launcher
