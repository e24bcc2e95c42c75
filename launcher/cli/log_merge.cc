#include "launcher/cli/log_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lockstep::cli {

namespace {

// Colours that are readable on dark and on light ground.
constexpr std::array<int, 6> kColors = {36, 32, 33, 35, 34, 31};

}  // namespace

LogMerge::LogMerge(MergeOptions options, Sink sink) : options_(options), sink_(std::move(sink)) {}

std::string LogMerge::prefix_of(const LogChunk& chunk) const {
  const std::string text = fmt::format("{}:{} | ", chunk.node_name, chunk.key.rank);
  if (!options_.color) return text;
  const auto index = static_cast<std::size_t>(chunk.key.rank) % kColors.size();
  return fmt::format("\x1b[{}m{}\x1b[0m", kColors[index], text);
}

LogMerge::Outcome LogMerge::add(const LogChunk& chunk, Instant now) {
  auto [it, is_new] = logs_.try_emplace(chunk.key);
  Log& log = it->second;
  if (is_new) {
    log.position = options_.from_start ? 0 : chunk.offset;
    if (options_.prefix) log.prefix = prefix_of(chunk);
  }
  if (chunk.offset > log.position) return Outcome::gap;
  const std::uint64_t known = log.position - chunk.offset;
  if (known > 0 && known >= chunk.data.size()) return Outcome::seen_before;
  const std::string_view fresh = std::string_view(chunk.data).substr(known);
  log.position += fresh.size();
  if (!options_.prefix) {
    if (!fresh.empty()) sink_(chunk.key.stream, fresh);
    return Outcome::taken;
  }
  if (log.pending.empty()) log.since = now;
  log.pending += fresh;
  write_lines(chunk.key, log, now);
  return Outcome::taken;
}

void LogMerge::write_lines(const LogKey& key, Log& log, Instant now) {
  const auto last = log.pending.rfind('\n');
  if (last != std::string::npos) {
    write_piece(key, log, std::string_view(log.pending).substr(0, last + 1));
    log.pending.erase(0, last + 1);
    log.since = now;
  }
  if (log.pending.size() >= kMaxHeldLineBytes) {
    write_piece(key, log, log.pending);
    log.pending.clear();
  }
}

// Whole lines, or the beginning or the rest of one. One call of the sink, so that a line is one
// write.
void LogMerge::write_piece(const LogKey& key, Log& log, std::string_view piece) {
  if (piece.empty()) return;
  bool at_line_start = true;
  if (open_line_ == key) {
    at_line_start = false;
  } else if (open_line_) {
    sink_(open_line_->stream, "\n");
  }
  std::string out;
  while (!piece.empty()) {
    const auto newline = piece.find('\n');
    const auto length = newline == std::string_view::npos ? piece.size() : newline + 1;
    if (at_line_start) out += log.prefix;
    out += piece.substr(0, length);
    piece.remove_prefix(length);
    at_line_start = true;
  }
  const bool open = out.back() != '\n';
  sink_(key.stream, out);
  open_line_.reset();
  if (open) open_line_ = key;
}

void LogMerge::show_partial(Instant now) {
  for (auto& [key, log] : logs_) {
    if (log.pending.empty() || log.since + options_.show_partial_after > now) continue;
    write_piece(key, log, log.pending);
    log.pending.clear();
  }
}

Instant LogMerge::next_deadline() const {
  Instant next = Instant::never();
  for (const auto& [key, log] : logs_)
    if (!log.pending.empty()) next = std::min(next, log.since + options_.show_partial_after);
  return next;
}

void LogMerge::finish() {
  for (auto& [key, log] : logs_) {
    write_piece(key, log, log.pending);
    log.pending.clear();
  }
  if (open_line_) sink_(open_line_->stream, "\n");
  open_line_.reset();
}

std::vector<LogFollow::Position> LogMerge::positions() const {
  std::vector<LogFollow::Position> positions;
  for (const auto& [key, log] : logs_) positions.push_back({key, log.position});
  return positions;
}

}  // namespace lockstep::cli
