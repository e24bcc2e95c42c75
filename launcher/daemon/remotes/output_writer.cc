#include "launcher/daemon/remotes/output_writer.h"

#include <spdlog/spdlog.h>

#include "common/base/cut.h"
#include "common/domain/data/outputs.h"
#include "common/domain/why/why.h"

namespace lockstep::launcher {

// The operator's current file decides where the output is written, and whether the job may.
void OutputWriter::perform(const WriteOutput& action) {
  const auto done = [&core = core_, job = action.job, order = action.order,
                     output = action.output](const Status& written) {
    core.feed(OutputWrittenInput{
        job, order, output,
        written ? Why() : told(cut(written.error().message, kMaxWriteFailureBytes))});
  };
  const auto stores = files_.datastores();
  if (!stores) {
    spdlog::warn("{}", stores.error().message);
    return done(make_error(ErrorCode::unavailable,
                           "the launcher's datastores.yml cannot be used; `lockstep datastore "
                           "list` shows an admin the reason"));
  }
  const auto to = remote_of(*stores, action);
  if (!to) return done(to.error());
  remotes_.write(action, *to, done);
}

}  // namespace lockstep::launcher
