#pragma once
// Secrets on the wire: see proto/secrets.proto and fields.h.

#include "common/domain/people/secrets.h"
#include "common/wire/fields.h"
#include "proto/secrets.pb.h"

namespace lockstep::pb {

LOCKSTEP_CODEC(lockstep::SetSecret, SetSecret);
LOCKSTEP_CODEC(lockstep::RemoveSecret, RemoveSecret);
LOCKSTEP_CODEC(lockstep::ListSecrets, ListSecrets);
LOCKSTEP_CODEC(lockstep::SecretView, SecretView);
LOCKSTEP_CODEC(lockstep::SecretsReply, SecretsReply);
LOCKSTEP_CODEC(lockstep::SecretValues, SecretValues);

}  // namespace lockstep::pb
