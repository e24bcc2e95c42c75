#pragma once
// The launcher, its nodes and the tokens that let nodes join, as JSON.

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/domain/messages/client_protocol.h"
#include "common/domain/messages/views.h"

namespace lockstep::api {

using Json = nlohmann::ordered_json;

Json to_json(const NodeView& node);
Json to_json(const std::vector<NodeView>& nodes);
Json to_json(const LauncherStatus& status);
// `uses`: the number that the request asked for.
Json to_json(const TokenReply& token, int uses);
Json to_json(const TokenView& token);
Json to_json(const std::vector<TokenView>& tokens);

}  // namespace lockstep::api
