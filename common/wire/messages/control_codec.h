#pragma once
// Each message of the control and join sockets, to and from proto/control.proto. See fields.h.

#include "common/domain/messages/agent_protocol.h"
#include "common/domain/messages/client_protocol.h"
#include "common/domain/messages/join_protocol.h"
#include "common/wire/fields.h"
#include "proto/control.pb.h"

namespace lockstep::pb {

void to_wire(const lockstep::SessionOpen& from, SessionOpen* to);
Status from_wire(const SessionOpen& from, lockstep::SessionOpen* to);
void to_wire(const lockstep::Heartbeat& from, Heartbeat* to);
Status from_wire(const Heartbeat& from, lockstep::Heartbeat* to);
void to_wire(const lockstep::Observed& from, Observed* to);
Status from_wire(const Observed& from, lockstep::Observed* to);
void to_wire(const lockstep::MachinePart& from, MachinePart* to);
Status from_wire(const MachinePart& from, lockstep::MachinePart* to);
void to_wire(const lockstep::LauncherAddress& from, LauncherAddress* to);
Status from_wire(const LauncherAddress& from, lockstep::LauncherAddress* to);
void to_wire(const lockstep::LauncherAddresses& from, LauncherAddresses* to);
Status from_wire(const LauncherAddresses& from, lockstep::LauncherAddresses* to);
void to_wire(const lockstep::SessionAccepted& from, SessionAccepted* to);
Status from_wire(const SessionAccepted& from, lockstep::SessionAccepted* to);
void to_wire(const lockstep::SessionRefused& from, SessionRefused* to);
Status from_wire(const SessionRefused& from, lockstep::SessionRefused* to);
void to_wire(const lockstep::SessionLost& from, SessionLost* to);
Status from_wire(const SessionLost& from, lockstep::SessionLost* to);
void to_wire(const lockstep::HeartbeatAck& from, HeartbeatAck* to);
Status from_wire(const HeartbeatAck& from, lockstep::HeartbeatAck* to);
void to_wire(const lockstep::ObservedAck& from, ObservedAck* to);
Status from_wire(const ObservedAck& from, lockstep::ObservedAck* to);
void to_wire(const lockstep::Desired& from, Desired* to);
Status from_wire(const Desired& from, lockstep::Desired* to);
void to_wire(const lockstep::Submit& from, Submit* to);
Status from_wire(const Submit& from, lockstep::Submit* to);
void to_wire(const lockstep::CancelJob& from, CancelJob* to);
Status from_wire(const CancelJob& from, lockstep::CancelJob* to);
void to_wire(const lockstep::UpdateJob& from, UpdateJob* to);
Status from_wire(const UpdateJob& from, lockstep::UpdateJob* to);
void to_wire(const lockstep::ArchiveJob& from, ArchiveJob* to);
Status from_wire(const ArchiveJob& from, lockstep::ArchiveJob* to);
void to_wire(const lockstep::AnnotateJob& from, AnnotateJob* to);
Status from_wire(const AnnotateJob& from, lockstep::AnnotateJob* to);
void to_wire(const lockstep::ShareJob& from, ShareJob* to);
Status from_wire(const ShareJob& from, lockstep::ShareJob* to);
void to_wire(const lockstep::DeleteJobs& from, DeleteJobs* to);
Status from_wire(const DeleteJobs& from, lockstep::DeleteJobs* to);
void to_wire(const lockstep::JobFilter& from, JobFilter* to);
Status from_wire(const JobFilter& from, lockstep::JobFilter* to);
void to_wire(const lockstep::ListJobs& from, ListJobs* to);
Status from_wire(const ListJobs& from, lockstep::ListJobs* to);
void to_wire(const lockstep::ShowJob& from, ShowJob* to);
Status from_wire(const ShowJob& from, lockstep::ShowJob* to);
void to_wire(const lockstep::ListEvents& from, ListEvents* to);
Status from_wire(const ListEvents& from, lockstep::ListEvents* to);
void to_wire(const lockstep::EventsReply& from, EventsReply* to);
Status from_wire(const EventsReply& from, lockstep::EventsReply* to);
void to_wire(const lockstep::ExplainJob& from, ExplainJob* to);
Status from_wire(const ExplainJob& from, lockstep::ExplainJob* to);
void to_wire(const lockstep::WatchJob& from, WatchJob* to);
Status from_wire(const WatchJob& from, lockstep::WatchJob* to);
void to_wire(const lockstep::ListNodes& from, ListNodes* to);
Status from_wire(const ListNodes& from, lockstep::ListNodes* to);
void to_wire(const lockstep::ShowNode& from, ShowNode* to);
Status from_wire(const ShowNode& from, lockstep::ShowNode* to);
void to_wire(const lockstep::CreateToken& from, CreateToken* to);
Status from_wire(const CreateToken& from, lockstep::CreateToken* to);
void to_wire(const lockstep::ListTokens& from, ListTokens* to);
Status from_wire(const ListTokens& from, lockstep::ListTokens* to);
void to_wire(const lockstep::RevokeToken& from, RevokeToken* to);
Status from_wire(const RevokeToken& from, lockstep::RevokeToken* to);
void to_wire(const lockstep::TokensReply& from, TokensReply* to);
Status from_wire(const TokensReply& from, lockstep::TokensReply* to);
void to_wire(const lockstep::DrainNode& from, DrainNode* to);
Status from_wire(const DrainNode& from, lockstep::DrainNode* to);
void to_wire(const lockstep::RemoveNode& from, RemoveNode* to);
Status from_wire(const RemoveNode& from, lockstep::RemoveNode* to);
void to_wire(const lockstep::ApproveNode& from, ApproveNode* to);
Status from_wire(const ApproveNode& from, lockstep::ApproveNode* to);
void to_wire(const lockstep::LabelNode& from, LabelNode* to);
Status from_wire(const LabelNode& from, lockstep::LabelNode* to);
void to_wire(const lockstep::GetStatus& from, GetStatus* to);
Status from_wire(const GetStatus& from, lockstep::GetStatus* to);
void to_wire(const lockstep::Shutdown& from, Shutdown* to);
Status from_wire(const Shutdown& from, lockstep::Shutdown* to);
void to_wire(const lockstep::SubmitReply& from, SubmitReply* to);
Status from_wire(const SubmitReply& from, lockstep::SubmitReply* to);
void to_wire(const lockstep::JobReply& from, JobReply* to);
Status from_wire(const JobReply& from, lockstep::JobReply* to);
void to_wire(const lockstep::JobsDeleted& from, JobsDeleted* to);
Status from_wire(const JobsDeleted& from, lockstep::JobsDeleted* to);
void to_wire(const lockstep::JobUpdate& from, JobUpdate* to);
Status from_wire(const JobUpdate& from, lockstep::JobUpdate* to);
void to_wire(const lockstep::WaitsForDisk& from, WaitsForDisk* to);
Status from_wire(const WaitsForDisk& from, lockstep::WaitsForDisk* to);
void to_wire(const lockstep::StillWatching& from, StillWatching* to);
Status from_wire(const StillWatching& from, lockstep::StillWatching* to);
void to_wire(const lockstep::JobsReply& from, JobsReply* to);
Status from_wire(const JobsReply& from, lockstep::JobsReply* to);
void to_wire(const lockstep::ExplainReply& from, ExplainReply* to);
Status from_wire(const ExplainReply& from, lockstep::ExplainReply* to);
void to_wire(const lockstep::NodesReply& from, NodesReply* to);
Status from_wire(const NodesReply& from, lockstep::NodesReply* to);
void to_wire(const lockstep::TokenReply& from, TokenReply* to);
Status from_wire(const TokenReply& from, lockstep::TokenReply* to);
void to_wire(const lockstep::StatusReply& from, StatusReply* to);
Status from_wire(const StatusReply& from, lockstep::StatusReply* to);
void to_wire(const lockstep::Done& from, Done* to);
Status from_wire(const Done& from, lockstep::Done* to);
void to_wire(const lockstep::Refused& from, Refused* to);
Status from_wire(const Refused& from, lockstep::Refused* to);
void to_wire(const lockstep::JoinRequest& from, JoinRequest* to);
Status from_wire(const JoinRequest& from, lockstep::JoinRequest* to);
void to_wire(const lockstep::JoinAccepted& from, JoinAccepted* to);
Status from_wire(const JoinAccepted& from, lockstep::JoinAccepted* to);
void to_wire(const lockstep::AskAboutKey&, AskAboutKey*);
Status from_wire(const AskAboutKey&, lockstep::AskAboutKey*);
void to_wire(const lockstep::KeyStanding& from, KeyStanding* to);
Status from_wire(const KeyStanding& from, lockstep::KeyStanding* to);
void to_wire(const lockstep::JoinRefused& from, JoinRefused* to);
Status from_wire(const JoinRefused& from, lockstep::JoinRefused* to);
void to_wire(const lockstep::AttachWanted& from, AttachWanted* to);
Status from_wire(const AttachWanted& from, lockstep::AttachWanted* to);
void to_wire(const lockstep::AllowPeers& from, AllowPeers* to);
Status from_wire(const AllowPeers& from, lockstep::AllowPeers* to);

}  // namespace lockstep::pb
