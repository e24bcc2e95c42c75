#include "common/wire/people/secrets_codec.h"

namespace lockstep::pb {

namespace {

constexpr std::size_t kMaxNameBytes = 256;

}  // namespace

void to_wire(const lockstep::SetSecret& from, SetSecret* to) {
  to->set_name(from.name);
  to->set_value(from.value);
}
Status from_wire(const SetSecret& from, lockstep::SetSecret* to) {
  TRY(read_text(from.name(), "secret.name", &to->name, kMaxNameBytes));
  TRY(read_text(from.value(), "secret.value", &to->value, kMaxSecretBytesPerUser));
  return {};
}

void to_wire(const lockstep::RemoveSecret& from, RemoveSecret* to) { to->set_name(from.name); }
Status from_wire(const RemoveSecret& from, lockstep::RemoveSecret* to) {
  TRY(read_text(from.name(), "secret.name", &to->name, kMaxNameBytes));
  return {};
}

void to_wire(const lockstep::ListSecrets&, ListSecrets*) {}
Status from_wire(const ListSecrets&, lockstep::ListSecrets*) { return {}; }

void to_wire(const lockstep::SecretView& from, SecretView* to) {
  to->set_name(from.name);
  to->set_updated_ns(from.updated.ns);
}
Status from_wire(const SecretView& from, lockstep::SecretView* to) {
  TRY(read_text(from.name(), "secret.name", &to->name, kMaxNameBytes));
  TRY(read_instant(from.updated_ns(), "secret.updated", &to->updated));
  return {};
}

void to_wire(const lockstep::SecretsReply& from, SecretsReply* to) {
  write_list(from.secrets, to->mutable_secrets());
}
Status from_wire(const SecretsReply& from, lockstep::SecretsReply* to) {
  return read_list(from.secrets(), kMaxSecretsPerUser, "secrets", &to->secrets);
}

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
