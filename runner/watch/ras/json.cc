// Parses RAS's JSON while it arrives, so that the report of a large job is not kept twice.

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/base/cut.h"
#include "common/base/printable.h"
#include "runner/watch/ras/ras_report.h"

namespace lockstep::runner {
namespace {

constexpr std::size_t kDeepestRas = 12;

std::string ras_word(std::string_view text) {
  return cut(in_one_line(text.substr(0, 2 * kMaxRasTextBytes)), kMaxRasTextBytes);
}

// The reader's place in the report. `skipped`: inside a value that is not used.
enum class RasPlace {
  root,
  communicators,
  communicator,
  ranks,
  rank,
  status,
  counts,
  missing,
  missing_rank,
  missing_status,
  ras,
  skipped
};

class RasHandler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  RasReport report;

  bool null() override { return true; }
  bool boolean(bool value) override { return take_flag(value); }
  bool number_integer(number_integer_t value) override { return take_number(value); }
  bool number_unsigned(number_unsigned_t value) override {
    return take_number(static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX)));
  }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return false; }
  bool string(string_t& value) override { return take_text(value); }
  bool key(string_t& value) override {
    key_ = value.substr(0, kMaxRasTextBytes);
    return true;
  }
  bool start_object(std::size_t) override { return enter(true); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(false); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  RasPlace here() const { return places_.empty() ? RasPlace::skipped : places_.back(); }
  RasCommunicator& communicator() { return report.communicators.back(); }

  RasPlace below(bool is_object) const {
    if (places_.empty()) return is_object ? RasPlace::root : RasPlace::skipped;
    switch (here()) {
      case RasPlace::root:
        if (key_ == "communicators" && !is_object) return RasPlace::communicators;
        return key_ == "ras" && is_object ? RasPlace::ras : RasPlace::skipped;
      case RasPlace::communicators: return is_object ? RasPlace::communicator : RasPlace::skipped;
      case RasPlace::communicator:
        if (key_ == "ranks" && !is_object) return RasPlace::ranks;
        return key_ == "missing_ranks" && !is_object ? RasPlace::missing : RasPlace::skipped;
      case RasPlace::ranks: return is_object ? RasPlace::rank : RasPlace::skipped;
      case RasPlace::rank:
        if (key_ == "status" && is_object) return RasPlace::status;
        return key_ == "collective_counts" && is_object ? RasPlace::counts : RasPlace::skipped;
      case RasPlace::missing: return is_object ? RasPlace::missing_rank : RasPlace::skipped;
      case RasPlace::missing_rank:
        return key_ == "status" && is_object ? RasPlace::missing_status : RasPlace::skipped;
      case RasPlace::status:
      case RasPlace::counts:
      case RasPlace::missing_status:
      case RasPlace::ras:
      case RasPlace::skipped: return RasPlace::skipped;
    }
    return RasPlace::skipped;
  }

  bool enter(bool is_object) {
    if (places_.size() >= kDeepestRas) return false;
    const RasPlace place = below(is_object);
    places_.push_back(place);
    if (place == RasPlace::communicator) {
      if (report.communicators.size() >= kMaxRasCommunicators) return false;
      report.communicators.emplace_back();
    } else if (place == RasPlace::rank) {
      if (++ranks_ > kMaxRasRanks) return false;
      communicator().ranks.emplace_back();
    } else if (place == RasPlace::missing_rank) {
      if (++ranks_ > kMaxRasRanks) return false;
      communicator().missing.emplace_back();
    }
    return true;
  }

  bool leave() {
    places_.pop_back();
    key_.clear();
    return true;
  }

  bool take_text(const std::string& value) {
    if (here() == RasPlace::root && key_ == "nccl_version") report.nccl_version = ras_word(value);
    if (here() == RasPlace::communicator && key_ == "hash")
      communicator().hash = ras_word(value.starts_with("0x") ? value.substr(2) : value);
    if (here() == RasPlace::rank && key_ == "host")
      communicator().ranks.back().host = ras_word(value);
    if (here() == RasPlace::missing_rank && key_ == "host")
      communicator().missing.back().host = ras_word(value);
    return true;
  }

  bool take_flag(bool value) {
    if (here() == RasPlace::status) {
      RasRank& rank = communicator().ranks.back();
      if (key_ == "finalize_called" || key_ == "destroy_flag")
        rank.finalizes = rank.finalizes || value;
      if (key_ == "abort_flag") rank.aborts = value;
    }
    if (here() == RasPlace::missing_status && key_ == "considered_dead")
      communicator().missing.back().dead = value;
    return true;
  }

  bool take_number(std::int64_t value) {
    const int number = static_cast<int>(std::clamp<std::int64_t>(value, -1, INT32_MAX));
    if (here() == RasPlace::communicator && key_ == "size") communicator().size = number;
    if (here() == RasPlace::ras && key_ == "timeouts_count") report.timeouts = number;
    if (here() == RasPlace::rank) {
      if (key_ == "rank") communicator().ranks.back().rank = number;
      if (key_ == "pid") communicator().ranks.back().pid = number;
    }
    if (here() == RasPlace::missing_rank) {
      if (key_ == "rank") communicator().missing.back().rank = number;
      if (key_ == "pid") communicator().missing.back().pid = number;
    }
    if (here() == RasPlace::status && key_ == "async_error")
      communicator().ranks.back().async_error = number;
    if (here() == RasPlace::counts) {
      RasCounts& counts = communicator().ranks.back().counts;
      if (counts.size() < kMaxRasCounts)
        counts[ras_word(key_)] = std::clamp<std::int64_t>(value, 0, kMaxRasCount);
    }
    return true;
  }

  std::vector<RasPlace> places_;
  std::string key_;
  std::size_t ranks_ = 0;
};

// Adds commas: NCCL 2.28.9 leaves one out between two members of a missing rank.
std::string with_all_commas(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 64);
  char last = '{';  // the last character that is not a blank
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      out += c;
      if (c == '\\' && i + 1 < text.size()) out += text[++i];
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') {
      if (last != '{' && last != '[' && last != ',' && last != ':') out += ',';
      in_string = true;
    }
    if (std::isspace(static_cast<unsigned char>(c)) == 0) last = c;
    out += c;
  }
  return out;
}

std::optional<RasReport> read_ras_json(std::string_view text) {
  RasHandler handler;
  if (!nlohmann::json::sax_parse(text, &handler)) return std::nullopt;
  return std::move(handler.report);
}

}  // namespace

Result<RasReport> parse_ras_json(std::string_view text) {
  if (text.size() > kMaxRasBytes)
    return make_error(ErrorCode::corrupt, "NCCL's RAS said more than fits a report");
  auto report = read_ras_json(text);
  if (!report) report = read_ras_json(with_all_commas(text));
  if (!report) return make_error(ErrorCode::corrupt, "NCCL's RAS did not say JSON of its own");
  return *std::move(report);
}

}  // namespace lockstep::runner
