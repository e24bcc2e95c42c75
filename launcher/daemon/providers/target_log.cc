#include "launcher/daemon/providers/target_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "common/base/cut.h"
#include "common/base/printable.h"
#include "common/domain/targets/compute.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {
namespace {

constexpr std::size_t kLongestCharacter = 4;

std::size_t size_of_log(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
}

io::Fd open_log(const std::string& path) {
  return io::Fd(
      io::disk::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
}

// The last bytes of a file, at most `limit`; "" if there is no file.
std::string end_of_file(const std::string& path, std::size_t limit) {
  const auto fd = io::open_file(path, O_RDONLY | O_NOFOLLOW);
  if (!fd) return "";
  const std::size_t size = size_of_log(fd->get());
  std::string text(std::min(size, limit), '\0');
  const ssize_t got =
      ::pread(fd->get(), text.data(), text.size(), static_cast<off_t>(size - text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

}  // namespace

std::string to_log(const ProviderEvent& event) {
  const std::string why = words::text_of(event.why);
  switch (event.kind) {
    case ProviderEvent::Kind::step: return "step " + event.step;
    case ProviderEvent::Kind::running: {
      std::map<std::string, std::string> about = event.about;
      const auto add = [&](const char* name, Duration time) {
        about[name] =
            std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count());
      };
      if (event.ends) add("left", *event.ends);
      if (event.lifetime != Duration(0)) add("lifetime", event.lifetime);
      std::string text = "runs";
      for (const auto& [name, value] : about) text += fmt::format(" {}={}", name, value);
      return text;
    }
    case ProviderEvent::Kind::pending: return "waits" + (event.why ? ": " + why : std::string());
    case ProviderEvent::Kind::absent: return "is not there";
    case ProviderEvent::Kind::warning: return fmt::format("warning in {}: {}", event.step, why);
    case ProviderEvent::Kind::notice:
      return fmt::format("is taken away in {}: {}", format_duration(event.left), why);
    case ProviderEvent::Kind::error:
      return fmt::format("error in {} ({}): {}", event.step, to_string(event.fault), why);
  }
  return "?";
}

std::string one_line(std::string_view text, std::size_t limit) {
  return cut(in_one_line(text.substr(0, limit + kLongestCharacter)), limit);
}

void ProviderLog::add(const std::string& target, Instant now, std::string_view verb,
                      std::string_view machine, std::string_view text) {
  const std::string path = home_.compute_log(target);
  io::Fd file = open_log(path);
  if (file && size_of_log(file.get()) >= kMaxFileBytes) {
    io::disk::rename(path.c_str(), home_.old_compute_log(target).c_str());
    file = open_log(path);
  }
  if (!file) return;
  const std::string line =
      fmt::format("{} {} {} {}\n", to_string(now), verb, machine.empty() ? "-" : machine,
                  one_line(text, kMaxLineBytes));
  (void)io::write_all(file.get(), line);
}

std::string ProviderLog::newest(const std::string& target, std::int64_t lines) const {
  std::string text = end_of_file(home_.compute_log(target), kMaxComputeLogBytes);
  if (text.size() < kMaxComputeLogBytes)
    text.insert(0, end_of_file(home_.old_compute_log(target), kMaxComputeLogBytes - text.size()));
  // Only whole lines are kept: the first line may be incomplete.
  if (text.size() == kMaxComputeLogBytes) text.erase(0, text.find('\n') + 1);
  std::size_t begin = text.empty() ? 0 : text.size() - 1;
  for (std::int64_t left = lines; left > 0 && begin > 0; --left) {
    const auto newline = text.rfind('\n', begin - 1);
    begin = newline == std::string::npos ? 0 : newline;
    if (newline != std::string::npos && left == 1) ++begin;
  }
  return lines > 0 ? text.substr(begin) : text;
}

}  // namespace lockstep::launcher
