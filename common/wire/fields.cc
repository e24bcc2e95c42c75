#include "common/wire/fields.h"

#include <fmt/format.h>

#include "common/base/cut.h"
#include "common/grammar/job_name.h"

namespace lockstep::pb {

Error bad_field(std::string_view field, std::string_view why) {
  return make_error(ErrorCode::corrupt, fmt::format("message field {}: {}", field, why));
}

Status read_number(std::int64_t value, std::int64_t low, std::int64_t high, const char* field,
                   int* out) {
  if (value < low || value > high)
    return bad_field(field, fmt::format("is {}; must be {} to {}", value, low, high));
  *out = static_cast<int>(value);
  return {};
}

Status read_rank(std::int64_t value, const char* field, int* out) {
  return read_number(value, 0, kMaxRankNumber, field, out);
}

Status read_port(std::uint32_t value, const char* field, std::uint16_t* out) {
  if (value > 65535)
    return bad_field(field, fmt::format("is {}; the highest port is 65535", value));
  *out = static_cast<std::uint16_t>(value);
  return {};
}

std::string fitting_text(const std::string& text) { return cut_middle(text, kMaxTextBytes); }

Status read_text(const std::string& value, const char* field, std::string* out,
                 std::size_t max_bytes) {
  if (value.size() > max_bytes)
    return bad_field(field, fmt::format("has {} bytes; at most {}", value.size(), max_bytes));
  *out = value;
  return {};
}

Status read_instant(std::int64_t ns, const char* field, Instant* out) {
  if (!is_time(ns))
    return bad_field(field, fmt::format("holds {} ns, which is not a valid time", ns));
  out->ns = ns;
  return {};
}

Status read_duration(std::int64_t ns, const char* field, Duration* out) {
  if (ns < 0 || ns > kMostDurationNs)
    return bad_field(field, fmt::format("holds {} ns; must be 0 to 100 years", ns));
  *out = Duration(ns);
  return {};
}

Status read_key(const std::string& value, const char* field, PublicKey* out) {
  constexpr std::string_view kZ85 =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
  if (!value.empty() && (value.size() != 40 || value.find_first_not_of(kZ85) != std::string::npos))
    return bad_field(field, "is not a CURVE key (40 characters of z85)");
  out->value = value;
  return {};
}

Status read_digest(const std::string& value, const char* field, Digest* out) {
  const auto digest = Digest::from_bytes(value);
  if (!digest) return bad_field(field, fmt::format("has {} bytes; a digest has 32", value.size()));
  *out = *digest;
  return {};
}

Status read_optional_digest(const std::string& value, const char* field,
                            std::optional<Digest>* out) {
  out->reset();
  return value.empty() ? Status() : read_digest(value, field, &out->emplace());
}

Status read_job(const std::string& value, const char* field, JobId* out) {
  if (const auto valid = validate_job_name(value); !valid)
    return bad_field(field, valid.error().message);
  out->value = value;
  return {};
}

std::string join_digests(const std::vector<Digest>& digests) {
  std::string joined;
  joined.reserve(digests.size() * 32);
  for (const auto& digest : digests) joined += digest.view();
  return joined;
}

Status split_digests(const std::string& value, std::size_t max_count, const char* field,
                     std::vector<Digest>* out) {
  if (value.size() % 32 != 0)
    return bad_field(field, fmt::format("has {} bytes; digests have 32 each", value.size()));
  TRY(check_count(static_cast<std::int64_t>(value.size() / 32), max_count, field));
  out->resize(value.size() / 32);
  for (std::size_t i = 0; i < out->size(); ++i)
    TRY(read_digest(value.substr(i * 32, 32), field, &(*out)[i]));
  return {};
}

Status check_count(std::int64_t count, std::size_t max_count, const char* field) {
  if (count < 0 || static_cast<std::size_t>(count) > max_count)
    return bad_field(field, fmt::format("has {} entries; at most {}", count, max_count));
  return {};
}

Status check_version(std::uint32_t theirs, std::uint32_t ours, const char* what) {
  if (theirs == ours) return {};
  return make_error(ErrorCode::unsupported,
                    fmt::format("{}: has protocol version {}, but this program ({}) speaks version "
                                "{}; install the same Lockstep on both sides",
                                what, theirs, LOCKSTEP_VERSION, ours));
}

void write_texts(const std::vector<std::string>& from, TextList* to) {
  for (const auto& text : from) *to->Add() = text;
}

Status read_texts(const TextList& from, std::size_t max_count, const char* field,
                  std::vector<std::string>* to) {
  TRY(check_count(from.size(), max_count, field));
  for (const auto& text : from) TRY(read_text(text, field, &to->emplace_back()));
  return {};
}

}  // namespace lockstep::pb
