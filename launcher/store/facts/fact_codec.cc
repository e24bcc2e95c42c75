#include "launcher/store/facts/fact_codec.h"

#include "common/wire/body_codec.h"
#include "common/wire/data/asset_codec.h"
#include "common/wire/data/name_codec.h"
#include "common/wire/job/assignment_codec.h"
#include "common/wire/job/environment_codec.h"
#include "common/wire/job/job_codec.h"
#include "common/wire/people/access_codec.h"
#include "common/wire/people/quota_codec.h"
#include "common/wire/table_codec.h"
#include "common/wire/targets/compute_codec.h"
#include "common/wire/targets/node_codec.h"
#include "common/wire/targets/size_codec.h"
#include "launcher/store/facts/by_hand.h"
#include "proto/journal.access.h"

namespace lockstep::launcher {

std::string encode_fact(const Fact& fact) {
  pb::Fact wire;
  pb::write_body(fact, &wire);
  return pb::serialize(wire);
}

Result<Fact> decode_fact(std::string_view payload) {
  constexpr std::size_t kMaxFactBytes = 256u << 20;
  pb::Fact wire;
  TRY(pb::parse(payload, kMaxFactBytes, "journal row", &wire));
  Fact fact;
  TRY(pb::read_body(wire, &fact));
  return fact;
}

}  // namespace lockstep::launcher
