#pragma once
// Answers questions about registered data and models from the core's state, without the parts that
// the asker may not see. It reads no files.

#include "common/domain/messages/client_protocol.h"
#include "launcher/api/queries/viewer.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

// AssetReply with the jobs that used the version, or Refused not_found.
ClientReply show_asset(const State& state, const Caller& caller, const ShowAsset& question);
// AssetsReply, or Refused not_found for a name. One that the asker may not see is not found.
ClientReply list_assets(const State& state, const Caller& caller, const ListAssets& question);

}  // namespace lockstep::launcher
