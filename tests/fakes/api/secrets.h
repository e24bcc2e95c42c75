#pragma once
// Secrets in memory, with the limits of a real store.

#include <map>

#include "launcher/api/ports/clock_and_random.h"
#include "launcher/api/ports/secrets.h"

namespace lockstep::test {

class FakeSecrets final : public launcher::Secrets {
 public:
  explicit FakeSecrets(launcher::ClockAndRandom& clock) : clock_(clock) {}

  Status set(const std::string& owner, const std::string& name, const std::string& value) override {
    TRY(validate_secret_name(name));
    TRY(validate_secret_value(value));
    std::size_t count = 0, bytes = value.size();
    for (const auto& [other, secret] : of_[owner]) {
      if (other == name) continue;
      ++count;
      bytes += secret.value.size();
    }
    if (count >= kMaxSecretsPerUser || bytes > kMaxSecretBytesPerUser)
      return make_error(ErrorCode::resource_exhausted, owner + " has too many secrets");
    of_[owner][name] = {value, clock_.now()};
    return {};
  }
  Status remove(const std::string& owner, const std::string& name) override {
    if (of_[owner].erase(name) == 0) return missing(owner, name);
    return {};
  }
  Result<std::vector<SecretView>> list(const std::string& owner) override {
    std::vector<SecretView> secrets;
    for (const auto& [name, secret] : of_[owner]) secrets.push_back({name, secret.updated});
    return secrets;
  }
  Status expect(const std::string& owner, const std::set<std::string>& names) override {
    for (const std::string& name : names)
      if (of_[owner].count(name) == 0) return missing(owner, name);
    return {};
  }

 private:
  struct Secret {
    std::string value;
    Instant updated;
  };
  static Status missing(const std::string& owner, const std::string& name) {
    return make_error(ErrorCode::not_found, "user '" + owner + "' has no secret '" + name + "'");
  }

  launcher::ClockAndRandom& clock_;
  std::map<std::string, std::map<std::string, Secret>> of_;
};

}  // namespace lockstep::test
