#pragma once
// Each message of the bulk socket, to and from proto/bulk.proto. See fields.h.

#include "common/domain/messages/bulk_protocol.h"
#include "common/wire/fields.h"
#include "proto/bulk.pb.h"

namespace lockstep::pb {

void to_wire(const lockstep::MissingBlobs& from, MissingBlobs* to);
Status from_wire(const MissingBlobs& from, lockstep::MissingBlobs* to);
void to_wire(const lockstep::MissingBlobsReply& from, MissingBlobsReply* to);
Status from_wire(const MissingBlobsReply& from, lockstep::MissingBlobsReply* to);
// These move the data of the pieces out of `from`.
Status take_from_wire(PutBlobs* from, lockstep::PutBlobs* to);
Status take_from_wire(BlobData* from, lockstep::BlobData* to);
void to_wire(const lockstep::PutBlobsReply& from, PutBlobsReply* to);
Status from_wire(const PutBlobsReply& from, lockstep::PutBlobsReply* to);
void to_wire(const lockstep::GetBlobs& from, GetBlobs* to);
Status from_wire(const GetBlobs& from, lockstep::GetBlobs* to);
void to_wire(const lockstep::FindPeers& from, FindPeers* to);
Status from_wire(const FindPeers& from, lockstep::FindPeers* to);
void to_wire(const lockstep::BlobPeer& from, BlobPeer* to);
Status from_wire(const BlobPeer& from, lockstep::BlobPeer* to);
void to_wire(const lockstep::FindPeersReply& from, FindPeersReply* to);
Status from_wire(const FindPeersReply& from, lockstep::FindPeersReply* to);
void to_wire(const lockstep::FetchReport& from, FetchReport* to);
Status from_wire(const FetchReport& from, lockstep::FetchReport* to);
void to_wire(const lockstep::AskUnits& from, AskUnits* to);
Status from_wire(const AskUnits& from, lockstep::AskUnits* to);
void to_wire(const lockstep::UnitsReply& from, UnitsReply* to);
Status from_wire(const UnitsReply& from, lockstep::UnitsReply* to);
void to_wire(const lockstep::FetchReport::Share& from, PeerShare* to);
Status from_wire(const PeerShare& from, lockstep::FetchReport::Share* to);
void to_wire(const lockstep::LogAppend& from, LogAppend* to);
Status from_wire(const LogAppend& from, lockstep::LogAppend* to);
void to_wire(const lockstep::LogAck& from, LogAck* to);
Status from_wire(const LogAck& from, lockstep::LogAck* to);
void to_wire(const lockstep::LogResume& from, LogResume* to);
Status from_wire(const LogResume& from, lockstep::LogResume* to);
void to_wire(const lockstep::LogFollow& from, LogFollow* to);
Status from_wire(const LogFollow& from, lockstep::LogFollow* to);
void to_wire(const lockstep::LogChunk& from, LogChunk* to);
Status from_wire(const LogChunk& from, lockstep::LogChunk* to);
void to_wire(const lockstep::LogCredit& from, LogCredit* to);
Status from_wire(const LogCredit& from, lockstep::LogCredit* to);
void to_wire(const lockstep::LogEnd& from, LogEnd* to);
Status from_wire(const LogEnd& from, lockstep::LogEnd* to);
void to_wire(const lockstep::BulkRefused& from, BulkRefused* to);
Status from_wire(const BulkRefused& from, lockstep::BulkRefused* to);
void to_wire(const lockstep::BlobPiece& from, BlobPiece* to);
Status from_wire(const BlobPiece& from, lockstep::BlobPiece* to);
void to_wire(const lockstep::LogKey& from, LogKey* to);
Status from_wire(const LogKey& from, lockstep::LogKey* to);
void to_wire(const lockstep::LogTime& from, LogTime* to);
Status from_wire(const LogTime& from, lockstep::LogTime* to);
void to_wire(const lockstep::LogFollow::Position& from, LogPosition* to);
Status from_wire(const LogPosition& from, lockstep::LogFollow::Position* to);

}  // namespace lockstep::pb
