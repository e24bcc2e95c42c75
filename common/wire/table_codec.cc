#include "common/wire/table_codec.h"

#include <fmt/format.h>

#include "common/base/cut.h"
#include "common/base/utf8.h"

namespace lockstep::pb::by_table {

namespace {
std::string name_of(Place at) { return fmt::format("{}.{}", at.message, at.field); }
}  // namespace

bool refuse(Place at, const std::string& why, Fault* fault) {
  fault->error = bad_field(name_of(at), why);
  return false;
}

bool refuse_number(const std::string& is, std::int64_t low, std::int64_t high, Place at,
                   Fault* fault) {
  if (high == kHighest)
    return refuse(at, fmt::format("is {}; must be at least {}", is, low), fault);
  if (low == kLowest) return refuse(at, fmt::format("is {}; must be at most {}", is, high), fault);
  return refuse(at, fmt::format("is {}; must be {} to {}", is, low, high), fault);
}

bool refuse_text(std::size_t size, std::size_t most, Place at, Fault* fault) {
  return refuse(at, fmt::format("has {} bytes; at most {}", size, most), fault);
}

bool refuse_count(std::size_t size, std::size_t most, Place at, Fault* fault) {
  return refuse(at, fmt::format("has {} entries; at most {}", size, most), fault);
}

bool refuse_word(const std::string& is, Place at, Fault* fault) {
  return refuse(at, fmt::format("holds an unknown value {}", is), fault);
}

void write_cut_text(const std::string& from, const Rule& rule, std::string* to) {
  constexpr std::size_t kMark = 3;  // the "…" at a cut
  const std::size_t most = rule.bytes == 0 ? kMaxTextBytes : rule.bytes;
  if (from.size() <= most) {
    *to = from;
    return;
  }
  switch (rule.cut) {
    case Cut::no: *to = from; return;
    case Cut::middle: *to = cut_middle(from, most); return;
    case Cut::end: *to = cut(from, most - kMark); return;
    case Cut::head: *to = head(from, most); return;
  }
}

bool read_value(const std::string& from, const Rule&, Place at, Fault* fault, Digest* to) {
  const auto digest = Digest::from_bytes(from);
  if (!digest) return refuse(at, fmt::format("has {} bytes; a digest has 32", from.size()), fault);
  *to = *digest;
  return true;
}

bool read_value(const std::string& from, const Rule& rule, Place at, Fault* fault, JobId* to) {
  if (rule.bytes != 0) return read_value(from, rule, at, fault, &to->value);
  return fault->set(read_job(from, name_of(at).c_str(), to));
}

bool read_value(const std::string& from, const Rule&, Place at, Fault* fault, PublicKey* to) {
  return fault->set(read_key(from, name_of(at).c_str(), to));
}

bool refuse_time(std::int64_t from, Place at, Fault* fault) {
  Instant none;
  return fault->set(read_instant(from, name_of(at).c_str(), &none));
}

bool refuse_duration(std::int64_t from, const Rule& rule, Place at, Fault* fault) {
  Duration none;
  if (rule.low == kLowest && rule.high == kHighest)
    return fault->set(read_duration(from, name_of(at).c_str(), &none));
  return refuse_number(std::to_string(from) + " ns", rule.low, rule.high, at, fault);
}

}  // namespace lockstep::pb::by_table
