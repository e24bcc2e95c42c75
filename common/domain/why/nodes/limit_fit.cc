#include "common/domain/why/nodes/limit_fit.h"

#include "common/domain/why/nodes/fit.h"

namespace lockstep {

Why beyond(const LimitRequest& asked, const LimitCaps& caps) {
  if (asked.pids && caps.pids != 0 && *asked.pids > caps.pids)
    return NodeAllowsFewerProcesses{caps.pids, *asked.pids};
  if (asked.log && caps.log.count != 0 && *asked.log > caps.log)
    return NodeAllowsLessLog{caps.log, *asked.log};
  if (asked.disk && caps.disk.count != 0 && *asked.disk > caps.disk)
    return NodeAllowsLessDisk{caps.disk, *asked.disk};
  return {};
}

}  // namespace lockstep
