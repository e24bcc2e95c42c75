#pragma once
// Secrets on the wire: see proto/secrets.proto and fields.h.

#include "common/domain/people/secrets.h"
#include "common/wire/fields.h"
#include "proto/secrets.pb.h"

namespace lockstep::pb {

void to_wire(const lockstep::SetSecret& from, SetSecret* to);
Status from_wire(const SetSecret& from, lockstep::SetSecret* to);
void to_wire(const lockstep::RemoveSecret& from, RemoveSecret* to);
Status from_wire(const RemoveSecret& from, lockstep::RemoveSecret* to);
void to_wire(const lockstep::ListSecrets& from, ListSecrets* to);
Status from_wire(const ListSecrets& from, lockstep::ListSecrets* to);
void to_wire(const lockstep::SecretView& from, SecretView* to);
Status from_wire(const SecretView& from, lockstep::SecretView* to);
void to_wire(const lockstep::SecretsReply& from, SecretsReply* to);
Status from_wire(const SecretsReply& from, lockstep::SecretsReply* to);
void to_wire(const lockstep::SecretValues& from, SecretValues* to);
Status from_wire(const SecretValues& from, lockstep::SecretValues* to);

}  // namespace lockstep::pb
