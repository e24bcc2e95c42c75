#pragma once
// Shared parts of the codecs: read numbers, times, keys, enums and lists, and check them. A decoder
// trusts nothing: a value that is out of range is an Error that names the field. Private to the
// codecs of common/wire and launcher/store. All codecs are in lockstep::pb, so that
// argument-dependent lookup finds to_wire and from_wire of any message.

#include <google/protobuf/repeated_ptr_field.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/digest.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/base/word.h"
#include "common/domain/ranks/bounds.h"

namespace lockstep::pb {

// The limit for names, keys and reasons. Commands, environments and data have their own limits.
inline constexpr std::size_t kMaxTextBytes = 64u << 10;
// The longest Duration that read_duration accepts.
inline constexpr std::int64_t kMostDurationNs = std::int64_t{100} * 366 * 86'400 * 1'000'000'000;

Error bad_field(std::string_view field, std::string_view why);

Status read_number(std::int64_t value, std::int64_t low, std::int64_t high, const char* field,
                   int* out);
Status read_rank(std::int64_t value, const char* field, int* out);
Status read_port(std::uint32_t value, const char* field, std::uint16_t* out);
// Cuts out the middle of a text for people if it is longer than read_text accepts: a receiver
// refuses the whole message if a text in it is too long, each time that it is sent.
std::string fitting_text(const std::string& text);
Status read_text(const std::string& value, const char* field, std::string* out,
                 std::size_t max_bytes = kMaxTextBytes);
// Accepts 0 to 2^62 and Instant::never(), so that adding any accepted Duration does not overflow.
inline bool is_time(std::int64_t ns) {
  return (ns >= 0 && ns <= (std::int64_t{1} << 62)) || ns == Instant::never().ns;
}
Status read_instant(std::int64_t ns, const char* field, Instant* out);
// Accepts 0 to 100 years.
Status read_duration(std::int64_t ns, const char* field, Duration* out);
// Accepts an empty value, or 40 characters of the z85 alphabet.
Status read_key(const std::string& value, const char* field, PublicKey* out);
Status read_digest(const std::string& value, const char* field, Digest* out);
// Reads a digest; an empty value is read as absent.
Status read_optional_digest(const std::string& value, const char* field,
                            std::optional<Digest>* out);
// Accepts only a valid job name, because it may become part of a path.
Status read_job(const std::string& value, const char* field, JobId* out);
// Concatenates digests, 32 bytes each.
std::string join_digests(const std::vector<Digest>& digests);
Status split_digests(const std::string& value, std::size_t max_count, const char* field,
                     std::vector<Digest>* out);
Status check_count(std::int64_t count, std::size_t max_count, const char* field);
// Checks the version, the first field of every message. `ours` is the only one that this program
// supports.
Status check_version(std::uint32_t theirs, std::uint32_t ours, const char* what);

// Converts an enumerator. Wire number = domain number + 1, because 0 means "not given"; each codec
// asserts the pairs.
template <typename Wire, typename Domain>
Wire wire_enum(Domain value) {
  return static_cast<Wire>(static_cast<int>(value) + 1);
}
// Whether the two enumerators have matching numbers, as wire_enum() and read_enum() expect.
template <typename Domain, typename Wire>
constexpr bool is_wire_of(Domain domain, Wire wire) {
  return static_cast<int>(domain) + 1 == static_cast<int>(wire);
}
template <typename Domain>
Status read_enum(int value, Domain last, const char* field, Domain* out) {
  if (value < 1 || value > static_cast<int>(last) + 1)
    return bad_field(field, "holds an unknown value " + std::to_string(value));
  *out = static_cast<Domain>(value - 1);
  return {};
}

// The codec of an enum with words (common/base/word.h).
template <typename E>
Status read_word(int number, const char* field, E* out) {
  const auto read = with_number<E>(number);
  if (!read) return bad_field(field, "holds an unknown value " + std::to_string(number));
  *out = *read;
  return {};
}

template <typename Domain, typename Wire>
void write_list(const std::vector<Domain>& from, google::protobuf::RepeatedPtrField<Wire>* to) {
  to->Reserve(static_cast<int>(from.size()));
  for (const auto& item : from) to_wire(item, to->Add());
}
template <typename Wire, typename Domain>
Status read_list(const google::protobuf::RepeatedPtrField<Wire>& from, std::size_t max_count,
                 const char* field, std::vector<Domain>* to) {
  TRY(check_count(from.size(), max_count, field));
  to->reserve(static_cast<std::size_t>(from.size()));
  for (const auto& item : from) TRY(from_wire(item, &to->emplace_back()));
  return {};
}

using TextList = google::protobuf::RepeatedPtrField<std::string>;
void write_texts(const std::vector<std::string>& from, TextList* to);
Status read_texts(const TextList& from, std::size_t max_count, const char* field,
                  std::vector<std::string>* to);

template <typename Entry>
void write_map(const std::map<std::string, std::string>& from,
               google::protobuf::RepeatedPtrField<Entry>* to) {
  for (const auto& [name, value] : from) {
    auto* entry = to->Add();
    entry->set_name(name);
    entry->set_value(value);
  }
}
template <typename Entry>
Status read_map(const google::protobuf::RepeatedPtrField<Entry>& from, std::size_t max_count,
                const char* field, std::map<std::string, std::string>* to) {
  TRY(check_count(from.size(), max_count, field));
  for (const auto& entry : from)
    if (!to->emplace(entry.name(), entry.value()).second)
      return bad_field(field, "names '" + entry.name() + "' twice");
  return {};
}

// Declares both directions of one struct. Some file defines them: by the struct's table with
// LOCKSTEP_TABLE_CODEC (table_codec.h), or by hand.
#define LOCKSTEP_CODEC(Domain, Wire)          \
  void to_wire(const Domain& from, Wire* to); \
  Status from_wire(const Wire& from, Domain* to)

// Encodes and decodes whole messages.
template <typename Wire>
std::string serialize(const Wire& message) {
  std::string bytes;
  message.SerializeToString(&bytes);
  return bytes;
}
template <typename Wire>
Status parse(std::string_view bytes, std::size_t max_bytes, const char* what, Wire* out) {
  if (bytes.size() > max_bytes)
    return make_error(lockstep::ErrorCode::resource_exhausted,
                      std::string(what) + ": has " + std::to_string(bytes.size()) +
                          " bytes; at most " + std::to_string(max_bytes) + " are read");
  if (!out->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return make_error(lockstep::ErrorCode::corrupt,
                      std::string(what) + ": is not a message of Lockstep");
  return {};
}

}  // namespace lockstep::pb
