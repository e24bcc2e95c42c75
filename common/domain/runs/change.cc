#include "common/domain/runs/change.h"

#include <fmt/format.h>

#include "common/base/cut.h"
#include "common/domain/runs/batch_limits.h"

namespace lockstep::metrics {

namespace {

constexpr std::size_t kMostOfAName = 60;  // in an error
constexpr std::size_t kAround = 64;       // what a text takes besides its bytes

Error wrong(const std::string& why) { return make_error(ErrorCode::invalid_argument, why); }

Status check_key(const char* what, const std::string& key, std::size_t most) {
  if (key.empty()) return wrong(fmt::format("a {} needs a name", what));
  if (key.size() > most)
    return wrong(fmt::format("the name of {} '{}' has {} bytes, and {} are possible", what,
                             cut(key, kMostOfAName), key.size(), most));
  return {};
}

Status check_texts(const char* what, const std::map<std::string, std::string>& texts,
                   std::size_t most) {
  if (texts.size() > kMaxBatchTexts)
    return wrong(fmt::format("{} {}s at once are too many; {} are possible", texts.size(), what,
                             kMaxBatchTexts));
  for (const auto& [key, value] : texts) {
    TRY(check_key(what, key, kMaxTextKeyBytes));
    if (value.size() > most)
      return wrong(
          fmt::format("{} '{}' has {} bytes, and {} are possible; log longer texts as an "
                      "artifact",
                      what, cut(key, kMostOfAName), value.size(), most));
  }
  return {};
}

struct Validator {
  Status operator()(const LogBatch& batch) const {
    TRY(validate(batch.run));
    if (batch.attempt.number != 0 && batch.attempt.job != job_of(batch.run))
      return wrong(
          fmt::format("attempt {} is not of run '{}'", to_string(batch.attempt), batch.run.value));
    if (batch.points.size() > kMaxBatchPoints)
      return wrong(fmt::format("{} points at once are too many; {} are possible",
                               batch.points.size(), kMaxBatchPoints));
    for (const NamedPoint& point : batch.points)
      TRY(check_key("metric", point.name, kMaxMetricNameBytes));
    TRY(check_texts("param", batch.params, kMaxParamBytes));
    TRY(check_texts("tag", batch.tags, kMaxTagBytes));
    if (batch.removed_tags.size() > kMaxBatchTexts)
      return wrong(fmt::format("{} tags to remove at once are too many; {} are possible",
                               batch.removed_tags.size(), kMaxBatchTexts));
    if (batch.mark && batch.mark->source.size() + batch.mark->state.size() > kMaxSourceBytes)
      return wrong("the name of what the numbers were read from is too long");
    return {};
  }
  Status operator()(const DescribeRun& change) const { return validate(change.info.run); }
  Status operator()(const RemoveRun& change) const {
    TRY(validate(change.run));
    if (is_inside_job(change.run)) return {};
    return wrong(fmt::format("'{0}' is a job; its run goes with it: lockstep job delete {0}",
                             change.run.value));
  }
  Status operator()(const RemoveJob&) const { return {}; }
};

std::size_t bytes_of_texts(const std::map<std::string, std::string>& texts) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : texts) bytes += key.size() + value.size() + 2 * kAround;
  return bytes;
}

}  // namespace

Status validate(const Change& change) { return std::visit(Validator{}, change); }

std::size_t bytes_of(const Change& change) {
  std::size_t bytes = sizeof(Change);
  const auto* const batch = std::get_if<LogBatch>(&change);
  if (batch == nullptr) return bytes;
  for (const NamedPoint& point : batch->points) bytes += sizeof(point) + point.name.size();
  for (const std::string& key : batch->removed_tags) bytes += key.size() + kAround;
  return bytes + bytes_of_texts(batch->params) + bytes_of_texts(batch->tags);
}

}  // namespace lockstep::metrics
