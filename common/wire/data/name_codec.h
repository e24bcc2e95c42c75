#pragma once
// Owners of names and the requests about them.

#include "common/domain/data/shared_name.h"
#include "common/wire/fields.h"
#include "proto/name.pb.h"

namespace lockstep::pb {

Status read_name_kind(int value, const char* field, lockstep::NameKind* out);
void to_wire(const lockstep::NameGrants& from, NameGrants* to);
Status from_wire(const NameGrants& from, lockstep::NameGrants* to);
void to_wire(const lockstep::ShareName& from, ShareName* to);
Status from_wire(const ShareName& from, lockstep::ShareName* to);
void to_wire(const lockstep::DeleteVersions& from, DeleteVersions* to);
Status from_wire(const DeleteVersions& from, lockstep::DeleteVersions* to);
void to_wire(const lockstep::AnnotateVersion& from, AnnotateVersion* to);
Status from_wire(const AnnotateVersion& from, lockstep::AnnotateVersion* to);

}  // namespace lockstep::pb
