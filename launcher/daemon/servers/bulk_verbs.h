#pragma once
// The requests of users and nodes over the bulk socket, as the audit log calls them.

#include <string>
#include <string_view>

#include "common/domain/messages/bulk_protocol.h"

namespace lockstep::launcher {

// The name of a request for people. One overload for each message, so that a new message does not
// compile without a name.
struct BulkVerb {
  std::string_view operator()(const MissingBlobs&) const { return "ask which files are missing"; }
  std::string_view operator()(const PutBlobs&) const { return "send files"; }
  std::string_view operator()(const GetBlobs&) const { return "fetch files"; }
  std::string_view operator()(const LogAppend&) const { return "send logs"; }
  std::string_view operator()(const LogResume&) const { return "resume logs"; }
  std::string_view operator()(const LogFollow&) const { return "read logs"; }
  std::string_view operator()(const LogCredit&) const { return "read logs"; }
  std::string_view operator()(const FindPeers&) const { return "find peers"; }
  std::string_view operator()(const FetchReport&) const { return "report a fetch"; }
  std::string_view operator()(const AskUnits&) const { return "ask for units"; }
  std::string_view operator()(const AttachFrame&) const { return "attach to a rank"; }
  std::string_view operator()(const MissingBlobsReply&) const { return kAnswer; }
  std::string_view operator()(const PutBlobsReply&) const { return kAnswer; }
  std::string_view operator()(const BlobData&) const { return kAnswer; }
  std::string_view operator()(const LogAck&) const { return kAnswer; }
  std::string_view operator()(const LogChunk&) const { return kAnswer; }
  std::string_view operator()(const LogEnd&) const { return kAnswer; }
  std::string_view operator()(const BulkRefused&) const { return kAnswer; }
  std::string_view operator()(const FindPeersReply&) const { return kAnswer; }
  std::string_view operator()(const UnitsReply&) const { return kAnswer; }

  // The name for messages that a launcher sends and should never receive.
  static constexpr std::string_view kAnswer = "answer";
};

// The object that the message is about.
std::string object_of(const BulkMessage& message);

}  // namespace lockstep::launcher
