// Parses RAS's text line by line, and ignores unknown lines.

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/base/cut.h"
#include "common/base/printable.h"
#include "runner/watch/ras/ras_report.h"

namespace lockstep::runner {
namespace {

std::string ras_text_word(std::string_view text) {
  return cut(in_one_line(text.substr(0, 2 * kMaxRasTextBytes)), kMaxRasTextBytes);
}

// Removes and returns the number at the beginning.
std::optional<std::int64_t> take_leading_number(std::string_view* text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<std::size_t>(end - text->data()));
  return value;
}

std::optional<std::int64_t> number_after(std::string_view text, std::string_view lead) {
  const std::size_t at = text.find(lead);
  if (at == text.npos) return std::nullopt;
  text.remove_prefix(at + lead.size());
  return take_leading_number(&text);
}

std::string_view word_after(std::string_view text, std::string_view lead) {
  const std::size_t at = text.find(lead);
  if (at == text.npos) return {};
  text.remove_prefix(at + lead.size());
  return text.substr(0, std::min(text.find_first_of(" \r\t"), text.size()));
}

// "… launched up to operation 6650", "… have not launched any operations"
std::optional<std::int64_t> launched(std::string_view line) {
  if (line.find("not launched any operations") != line.npos) return 0;
  const auto count = number_after(line, "launched up to operation ");
  return count ? std::optional(std::clamp<std::int64_t>(*count, 0, kMaxRasCount)) : std::nullopt;
}

class RasLines {
 public:
  RasReport report;

  void take(std::string_view line) {
    constexpr std::string_view kVersion = "NCCL version ";
    if (line.starts_with(kVersion)) {
      report.nccl_version = ras_text_word(word_after(line, kVersion));
    } else if (line.starts_with("#")) {
      take_heading(line);
    } else if (line.starts_with("DEAD")) {
      at_ = std::nullopt;
      is_dead_ = true;
    } else if (line.starts_with("  ") && line.size() > 2) {
      take_detail(line.substr(2));
    } else if (line.find_first_not_of("=- \r") != line.npos) {
      at_ = std::nullopt;
      is_dead_ = false;
    }
  }

 private:
  // "#0-0 (27a079b828ff1a75) MISMATCH". A communicator may appear more than once.
  void take_heading(std::string_view line) {
    const std::size_t open = line.find('('), close = line.find(')');
    at_ = std::nullopt;
    is_dead_ = false;
    counted_.reset();
    if (open == line.npos || close == line.npos || close < open) return;
    const std::string hash = ras_text_word(line.substr(open + 1, close - open - 1));
    auto& all = report.communicators;
    if (const auto known = by_hash_.find(hash); known != by_hash_.end()) {
      at_ = known->second;
      return;
    }
    if (all.size() >= kMaxRasCommunicators) return;
    at_ = by_hash_[hash] = all.size();
    all.emplace_back();
    all.back().hash = hash;
  }

  void take_detail(std::string_view line) {
    if (line.starts_with("Process ")) return take_process(line);
    if (!at_) return;
    constexpr std::string_view kCounts = "Communicator ranks have different ";
    if (line.starts_with(kCounts)) {
      const std::string name(word_after(line, kCounts));
      const bool is_of_counts = line.find("operation counts") != line.npos;
      counted_ = is_of_counts ? std::optional(name == "collective" ? "" : ras_text_word(name))
                              : std::nullopt;
      group_.reset();
      most_ = sum_ = 0;
      return;
    }
    if (!counted_) return;
    if (line.starts_with("Rank ")) return take_rank(line);
    std::string_view rest = line;
    const auto ranks = take_leading_number(&rest);
    const auto count = ranks ? launched(rest) : std::nullopt;
    group_ = count;
    if (!count) return;
    add_ranks(*ranks);
    if (*ranks <= most_) return;
    most_ = *ranks;
    report.communicators[*at_].others[*counted_] = *count;
  }

  // "Rank 3 -- GPU 3 managed by process 17 on node 10.0.0.4"; the line may have a count.
  void take_rank(std::string_view line) {
    const auto rank = number_after(line, "Rank ");
    const auto pid = number_after(line, "managed by process ");
    const std::string_view host = word_after(line, " on node ");
    const auto own = launched(line);
    const auto count = own ? own : group_;
    if (own) add_ranks(1);
    if (!rank || !pid || !count || ++ranks_ > kMaxRasRanks) return;
    auto& all = report.communicators[*at_].ranks;
    const int number = static_cast<int>(std::clamp<std::int64_t>(*rank, -1, INT32_MAX));
    const auto [known, is_new] = index_.try_emplace({*at_, number}, all.size());
    if (is_new) all.emplace_back();
    RasRank& found = all[known->second];
    found.rank = number;
    found.pid = static_cast<int>(std::clamp<std::int64_t>(*pid, 0, INT32_MAX));
    found.host = ras_text_word(host);
    if (found.counts.size() < kMaxRasCounts) found.counts[*counted_] = *count;
  }

  // "Process 3487984 on node 172.16.64.213 managing GPU 5"
  void take_process(std::string_view line) {
    const auto pid = number_after(line, "Process ");
    if (!pid || ++ranks_ > kMaxRasRanks || (!at_ && !is_dead_)) return;
    RasMissing missing;
    missing.pid = static_cast<int>(std::clamp<std::int64_t>(*pid, 0, INT32_MAX));
    missing.host = ras_text_word(word_after(line, " on node "));
    missing.dead = is_dead_;
    (at_ ? report.communicators[*at_].missing : report.dead).push_back(std::move(missing));
  }

  // The counts together cover all ranks of the communicator.
  void add_ranks(std::int64_t ranks) {
    sum_ = std::clamp<std::int64_t>(sum_ + std::clamp<std::int64_t>(ranks, 0, INT32_MAX), 0,
                                    INT32_MAX);
    int& size = report.communicators[*at_].size;
    size = std::max(size, static_cast<int>(sum_));
  }

  std::map<std::string, std::size_t> by_hash_;  // indexes of communicators by their hash
  std::optional<std::size_t> at_;               // index of the communicator that the lines describe
  bool is_dead_ = false;                        // the lines list dead processes
  std::optional<std::string> counted_;          // the kind of collective whose counts follow
  std::optional<std::int64_t> group_;           // the count that the ranks listed next have
  // The most ranks with one count, and the sum so far.
  std::int64_t most_ = 0, sum_ = 0;
  // Indexes of ranks in their communicators.
  std::map<std::pair<std::size_t, int>, std::size_t> index_;
  std::size_t ranks_ = 0;
};

}  // namespace

Result<RasReport> parse_ras_text(std::string_view text) {
  if (text.size() > kMaxRasBytes)
    return make_error(ErrorCode::corrupt, "NCCL's RAS said more than fits a report");
  RasLines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (lines.report.nccl_version.empty())
    return make_error(ErrorCode::corrupt, "NCCL's RAS did not say its version");
  return std::move(lines.report);
}

}  // namespace lockstep::runner
