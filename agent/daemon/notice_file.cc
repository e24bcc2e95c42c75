#include "agent/daemon/notice_file.h"

#include <nlohmann/json.hpp>

#include "common/base/utf8.h"
#include "common/domain/messages/agent_protocol.h"
#include "common/io/file_system.h"

namespace lockstep::agent {

namespace {
constexpr Duration kIfDamaged = seconds(60);
}  // namespace

Status write_notice(const std::string& path, const Notice& notice) {
  const nlohmann::json json = {{"boot", notice.boot.value},
                               {"until_ns_since_boot", notice.until.count()},
                               {"reason", notice.reason}};
  const auto replace = nlohmann::json::error_handler_t::replace;
  return io::write_file_atomically(path, json.dump(2, ' ', false, replace) + "\n", 0644);
}

std::optional<Notice> read_notice(const std::string& path, const BootId& boot,
                                  Duration since_boot) {
  const auto text = io::read_file(path, kibibytes(16));
  if (!text) return std::nullopt;
  Notice notice{boot, since_boot + kIfDamaged, "its notice.json cannot be read"};
  try {
    const auto json = nlohmann::json::parse(*text);
    const Notice told{BootId(json.at("boot").get<std::string>()),
                      Duration(json.at("until_ns_since_boot").get<std::int64_t>()),
                      json.at("reason").get<std::string>()};
    notice = told;
  } catch (const nlohmann::json::exception&) {
  }
  if (notice.boot != boot || notice.until <= since_boot) return std::nullopt;
  notice.reason.resize(head(notice.reason, kMaxNoticeReasonBytes).size());
  return notice;
}

}  // namespace lockstep::agent
