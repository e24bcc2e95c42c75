#include "common/wire/people/secrets_codec.h"

#include "common/wire/table_codec.h"
#include "proto/secrets.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::SetSecret, SetSecret);
LOCKSTEP_TABLE_CODEC(lockstep::RemoveSecret, RemoveSecret);
LOCKSTEP_TABLE_CODEC(lockstep::ListSecrets, ListSecrets);
LOCKSTEP_TABLE_CODEC(lockstep::SecretView, SecretView);
LOCKSTEP_TABLE_CODEC(lockstep::SecretsReply, SecretsReply);

void to_wire(const lockstep::SecretValues& from, SecretValues* to) {
  for (const auto& [name, value] : from)
    to_wire(lockstep::SetSecret{name, value}, to->add_values());
}
Status from_wire(const SecretValues& from, lockstep::SecretValues* to) {
  std::vector<lockstep::SetSecret> values;
  TRY(read_list(from.values(), kMaxSecretsPerUser, "assignment.secrets", &values));
  for (lockstep::SetSecret& one : values) (*to)[std::move(one.name)] = std::move(one.value);
  return {};
}

}  // namespace lockstep::pb
