#include "common/snapshot/stat_cache.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "common/io/file_system.h"
#include "common/snapshot/raw_io.h"

namespace lockstep::snapshot {
namespace {

struct CacheHeader {
  std::uint64_t magic = 0x3143534b434f4c21;  // format version 1
  std::uint64_t rows = 0;
  std::uint64_t check = 0;  // checksum of the rows
};
static_assert(std::is_trivially_copyable_v<StatCache::Row> && sizeof(StatCache::Row) == 72);

constexpr std::uint64_t kMaxCacheBytes = std::uint64_t{4} << 30;

std::string_view bytes_of(const std::vector<StatCache::Row>& rows) {
  return {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(StatCache::Row)};
}

}  // namespace

StatCache StatCache::load(const std::string& path) {
  StatCache cache;
  if (path.empty()) return cache;
  const auto content = io::read_file(path, {kMaxCacheBytes});
  CacheHeader header;
  if (!content || content->size() < sizeof header) return cache;
  std::memcpy(&header, content->data(), sizeof header);
  const std::string_view body = std::string_view(*content).substr(sizeof header);
  if (header.magic != CacheHeader{}.magic || body.size() % sizeof(Row) != 0 ||
      header.rows != body.size() / sizeof(Row) || header.check != word_hash(body)) {
    return cache;
  }
  cache.rows_.resize(header.rows);
  if (!body.empty()) std::memcpy(cache.rows_.data(), body.data(), body.size());
  return cache;
}

std::optional<Digest> StatCache::find(const FileIdentity& file) const {
  const auto found =
      std::lower_bound(rows_.begin(), rows_.end(), file,
                       [](const Row& row, const FileIdentity& key) { return row.file < key; });
  if (found == rows_.end() || found->file != file) return std::nullopt;
  return found->digest;
}

Status StatCache::save(const std::string& path, std::vector<Row> rows, std::int64_t scanned_at_ns) {
  std::erase_if(rows,
                [&](const Row& row) { return row.file.ctime_ns > scanned_at_ns - kTooYoungNs; });
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.file < b.file; });
  CacheHeader header;
  header.rows = rows.size();
  header.check = word_hash(bytes_of(rows));
  std::string content(reinterpret_cast<const char*>(&header), sizeof header);
  content += bytes_of(rows);
  return io::write_file_atomically(path, content, 0600, false);
}

}  // namespace lockstep::snapshot
