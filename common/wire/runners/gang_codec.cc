#include "common/wire/body_codec.h"
#include "common/wire/job/assignment_codec.h"
#include "common/wire/job/found_codec.h"
#include "common/wire/job/job_codec.h"
#include "common/wire/runners/runner_codec.h"
#include "common/wire/table_codec.h"
#include "common/wire/targets/fabric_codec.h"
#include "proto/probe.access.h"
#include "proto/runner.access.h"

namespace lockstep::wire {

std::string encode(const GangMessage& message) {
  pb::GangMessage wire;
  wire.set_version(kRunnerVersion);
  pb::write_body(message, &wire);
  return pb::serialize(wire);
}

Result<GangMessage> decode_gang(std::string_view bytes) {
  pb::GangMessage wire;
  TRY(pb::parse(bytes, kMaxGangMessageBytes, "gang message", &wire));
  TRY(pb::check_version(wire.version(), kRunnerVersion, "gang message"));
  GangMessage message;
  TRY(pb::read_body(wire, &message));
  return message;
}

}  // namespace lockstep::wire
