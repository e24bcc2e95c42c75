#pragma once
// The launcher, its nodes and the tokens that let nodes join, as JSON.

#include <string>

#include "common/domain/messages/client_protocol.h"
#include "common/domain/messages/views.h"
#include "launcher/api/json/keys/keys.h"

namespace lockstep::api {

// The command line finds out itself that no launcher runs.
struct NoLauncher {
  std::string home;
};
struct NewToken {
  TokenReply token;
  int uses = 1;  // the number that the request asked for
};

void keys(const NodeView& node, See& see);
void keys(const LauncherStatus& status, See& see);
void keys(const NoLauncher& none, See& see);
void keys(const NewToken& token, See& see);
void keys(const TokenView& token, See& see);

}  // namespace lockstep::api
