#include "launcher/audit/line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "common/base/cut.h"
#include "common/base/digest.h"
#include "launcher/audit/folder.h"

namespace lockstep::launcher {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kNumber = R"({"n":)";
constexpr std::string_view kPrev = R"(,"prev":")";
constexpr std::string_view kDigest = R"(","digest":")";
constexpr std::string_view kEnd = R"("})";
constexpr std::size_t kHex = 64;
constexpr const char* kRemoved = "remove the oldest entries";

// Appends `,"NAME":"TEXT"`. Most texts need no escapes.
void append(std::string_view name, std::string_view value, std::string* to) {
  to->append(",\"").append(name).append("\":");
  const bool is_plain =
      value.size() <= kMaxAuditText && std::all_of(value.begin(), value.end(), [](char c) {
        return c >= ' ' && c <= '~' && c != '"' && c != '\\';
      });
  if (is_plain) {
    to->append("\"").append(value).append("\"");
    return;
  }
  const Json text(cut(std::string(value), kMaxAuditText));
  to->append(text.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::optional<AuditOutcome> outcome_from(const std::string& word) {
  for (const AuditOutcome outcome :
       {AuditOutcome::done, AuditOutcome::refused, AuditOutcome::read, AuditOutcome::note})
    if (word == to_string(outcome)) return outcome;
  return std::nullopt;
}

}  // namespace

AuditLine audit_line(const AuditEntry& entry, const std::string& prev) {
  std::string text;
  text.reserve(512);
  text.append(kNumber).append(std::to_string(entry.number));
  text.append(R"(,"ns":)").append(std::to_string(entry.at.ns));
  append("at", to_string(entry.at), &text);
  append("who", entry.who, &text);
  append("key", entry.key, &text);
  append("address", entry.address, &text);
  append("what", entry.what, &text);
  append("object", entry.object, &text);
  if (!entry.project.empty()) append("project", entry.project, &text);
  append("outcome", to_string(entry.outcome), &text);
  append("detail", entry.detail, &text);
  text.append(kPrev).append(prev);
  std::string digest = sha256(text).hex();
  text.append(kDigest).append(digest).append(kEnd);
  return {std::move(text), std::move(digest)};
}

// Reads at fixed places, because each line is exactly as audit_line() writes it.
std::optional<AuditLink> audit_link(std::string_view line) {
  const std::size_t tail = kDigest.size() + kHex + kEnd.size();
  if (line.size() < kNumber.size() + kPrev.size() + kHex + tail) return std::nullopt;
  const std::string_view body = line.substr(0, line.size() - tail);
  const std::string_view rest = line.substr(body.size());
  const std::string_view digest = rest.substr(kDigest.size(), kHex);
  const std::string_view prev = body.substr(body.size() - kHex);
  if (!body.starts_with(kNumber) || !rest.starts_with(kDigest) || !rest.ends_with(kEnd) ||
      body.substr(0, body.size() - kHex).substr(body.size() - kHex - kPrev.size()) != kPrev)
    return std::nullopt;
  AuditLink link{0, prev, digest};
  const auto read =
      std::from_chars(body.data() + kNumber.size(), body.data() + body.size(), link.number);
  if (read.ec != std::errc() || *read.ptr != ',') return std::nullopt;
  if (sha256(body).hex() != digest) return std::nullopt;
  return link;
}

std::optional<AuditEntry> audit_entry(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  AuditEntry entry;
  const auto text = [&](const char* field, std::string* to) {
    const auto found = json.find(field);
    if (found == json.end() || !found->is_string()) return false;
    *to = found->get<std::string>();
    return true;
  };
  std::string outcome;
  const bool whole = text("who", &entry.who) && text("key", &entry.key) &&
                     text("address", &entry.address) && text("what", &entry.what) &&
                     text("object", &entry.object) && text("outcome", &outcome) &&
                     text("detail", &entry.detail) && json.contains("n") && json.contains("ns") &&
                     json["n"].is_number_unsigned() && json["ns"].is_number_integer();
  const auto known = outcome_from(outcome);
  (void)text("project", &entry.project);
  if (!whole || !known) return std::nullopt;
  entry.outcome = *known;
  entry.number = json["n"].get<std::uint64_t>();
  entry.at.ns = json["ns"].get<std::int64_t>();
  return entry;
}

AuditEntry removal_note(const AuditMark& last) {
  AuditEntry entry;
  entry.who = "lockstepd";
  entry.what = kRemoved;
  entry.object = "entries 1 to " + std::to_string(last.number);
  entry.outcome = AuditOutcome::note;
  entry.detail = fmt::format("{}:{}", last.number, last.digest);
  return entry;
}

std::optional<AuditMark> removed_by(const AuditEntry& entry) {
  if (entry.outcome != AuditOutcome::note || entry.what != kRemoved) return std::nullopt;
  return audit_mark_from(entry.detail);
}

}  // namespace lockstep::launcher
