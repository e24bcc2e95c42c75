// The tables of the messages of the control, join and bulk sockets.

#include "common/wire/data/asset_codec.h"
#include "common/wire/job/assignment_codec.h"
#include "common/wire/job/attach_codec.h"
#include "common/wire/job/job_codec.h"
#include "common/wire/messages/control_codec.h"
#include "common/wire/targets/node_codec.h"
#include "common/wire/views/views_codec.h"
#include "proto/bulk.access.h"
#include "proto/control.access.h"
#include "proto/job_file.access.h"
#include "tests/unit/common/wire/check_table.h"

namespace lockstep::test {
namespace {

TEST(MessageTables, EachKindHasANumberOfItsOwn) {
  check_bodies<pb::Envelope, AgentMessage, AgentReply, ClientRequest, ClientReply, JoinMessage,
               JoinReply>({1, 2, 3, 4, 324});
  check_bodies<pb::BulkEnvelope, BulkMessage>({1, 2, 3, 79, 179});
}

TEST(MessageTables, Control) {
  check_table<pb::PreemptionNotice, PreemptionNotice>();
  check_table<pb::MachinePart, MachinePart>();
  check_table<pb::SessionOpen, SessionOpen>();
  check_table<pb::Heartbeat, Heartbeat>();
  check_table<pb::Observed, Observed>();
  check_table<pb::LauncherAddress, LauncherAddress>();
  check_table<pb::LauncherAddresses, LauncherAddresses>();
  check_table<pb::SessionAccepted, SessionAccepted>();
  check_table<pb::SessionRefused, SessionRefused>();
  check_table<pb::SessionLost, SessionLost>();
  check_table<pb::HeartbeatAck, HeartbeatAck>();
  check_table<pb::ObservedAck, ObservedAck>();
  check_table<pb::Desired, Desired>();
  check_table<pb::AllowPeers, AllowPeers>();
  check_table<pb::AttachWanted, AttachWanted>();
  check_table<pb::Submit, Submit>();
  check_table<pb::CancelJob, CancelJob>();
  check_table<pb::ShareJob, ShareJob>();
  check_table<pb::UpdateJob, UpdateJob>();
  check_table<pb::ArchiveJob, ArchiveJob>();
  check_table<pb::AnnotateJob, AnnotateJob>();
  check_table<pb::DeleteJobs, DeleteJobs>();
  check_table<pb::JobFilter, JobFilter>();
  check_table<pb::JobFilter_Tag, JobFilter::Tag>();
  check_table<pb::ListJobs, ListJobs>();
  check_table<pb::ShowJob, ShowJob>();
  check_table<pb::ExplainJob, ExplainJob>();
  check_table<pb::ListEvents, ListEvents>();
  check_table<pb::WatchJob, WatchJob>();
  check_table<pb::ListNodes, ListNodes>();
  check_table<pb::ShowNode, ShowNode>();
  check_table<pb::CreateToken, CreateToken>();
  check_table<pb::ListTokens, ListTokens>();
  check_table<pb::RevokeToken, RevokeToken>();
  check_table<pb::TokensReply, TokensReply>();
  check_table<pb::DrainNode, DrainNode>();
  check_table<pb::RemoveNode, RemoveNode>();
  check_table<pb::LabelNode, LabelNode>();
  check_table<pb::ApproveNode, ApproveNode>();
  check_table<pb::GetStatus, GetStatus>();
  check_table<pb::Shutdown, Shutdown>();
  check_table<pb::SubmitReply, SubmitReply>();
  check_table<pb::JobReply, JobReply>();
  check_table<pb::KeptJob, JobsDeleted::Kept>();
  check_table<pb::JobsDeleted, JobsDeleted>();
  check_table<pb::JobUpdate, JobUpdate>();
  check_table<pb::WaitsForDisk, WaitsForDisk>();
  check_table<pb::StillWatching, StillWatching>();
  check_table<pb::JobsReply, JobsReply>();
  check_table<pb::ExplainReply, ExplainReply>();
  check_table<pb::EventsReply, EventsReply>();
  check_table<pb::NodesReply, NodesReply>();
  check_table<pb::TokenReply, TokenReply>();
  check_table<pb::StatusReply, StatusReply>();
  check_table<pb::Done, Done>();
  check_table<pb::Refused, Refused>();
  check_table<pb::JoinRequest, JoinRequest>();
  check_table<pb::AskAboutKey, AskAboutKey>();
  check_table<pb::KeyStanding, KeyStanding>();
  check_table<pb::JoinAccepted, JoinAccepted>();
  check_table<pb::JoinRefused, JoinRefused>();
  check_table<pb::CheckJobFile, CheckJobFile>();
  check_table<pb::JobFileChecked, JobFileChecked>();
}

TEST(MessageTables, Bulk) {
  check_table<pb::MissingBlobs, MissingBlobs>();
  check_table<pb::MissingBlobsReply, MissingBlobsReply>();
  check_table<pb::PutBlobsReply, PutBlobsReply>();
  check_table<pb::GetBlobs, GetBlobs>();
  check_table<pb::FindPeers, FindPeers>();
  check_table<pb::BlobPeer, BlobPeer>();
  check_table<pb::FindPeersReply, FindPeersReply>();
  check_table<pb::PeerShare, FetchReport::Share>();
  check_table<pb::FetchReport, FetchReport>();
  check_table<pb::AskUnits, AskUnits>();
  check_table<pb::UnitsReply, UnitsReply>();
  check_table<pb::LogKey, LogKey>();
  check_table<pb::LogTime, LogTime>();
  check_table<pb::LogAppend, LogAppend>();
  check_table<pb::LogAck, LogAck>();
  check_table<pb::LogResume, LogResume>();
  check_table<pb::LogPosition, LogFollow::Position>();
  check_table<pb::LogFollow, LogFollow>();
  check_table<pb::LogChunk, LogChunk>();
  check_table<pb::LogCredit, LogCredit>();
  check_table<pb::LogEnd, LogEnd>();
  check_table<pb::BulkRefused, BulkRefused>();
}

}  // namespace
}  // namespace lockstep::test
