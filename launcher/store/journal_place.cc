#include "launcher/store/journal_place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/io/file_system.h"

namespace lockstep::launcher {

namespace {

constexpr std::uint64_t kRoot = 2;  // the first table that create_journal makes
constexpr int kMaxDepth = 20;
constexpr unsigned char kInterior = 5, kLeaf = 13;

class Pages {
 public:
  explicit Pages(const std::string& path) {
    auto file = io::open_file(path, O_RDONLY | O_CLOEXEC);
    if (!file) return;
    file_ = *std::move(file);
    std::string head(18, '\0');
    if (::pread(file_.get(), head.data(), head.size(), 0) != 18) return;
    const std::uint64_t size = static_cast<std::uint64_t>(static_cast<unsigned char>(head[16]))
                                   << 8 |
                               static_cast<unsigned char>(head[17]);
    size_ = size == 1 ? 65'536 : size;
    if (size_ < 512 || (size_ & (size_ - 1)) != 0) size_ = 0;
  }
  std::uint64_t size() const { return size_; }
  // "" if the page does not exist
  std::string read(std::uint64_t page) const {
    std::string bytes(size_, '\0');
    const ssize_t got =
        ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>((page - 1) * size_));
    return got == static_cast<ssize_t>(size_) ? bytes : "";
  }

 private:
  io::Fd file_;
  std::uint64_t size_ = 0;
};

// Numbers of one page; beyond its end all are 0.
class Page {
 public:
  explicit Page(std::string bytes) : bytes_(std::move(bytes)) {}
  unsigned char kind() const { return byte(0); }
  std::uint64_t cells() const { return number(3, 2); }
  std::uint64_t right() const { return number(8, 4); }
  std::uint64_t cell(std::uint64_t i) const {
    return number((kind() == kLeaf ? 8 : 12) + 2 * i, 2);
  }
  std::uint64_t number(std::uint64_t at, int bytes) const {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | byte(at + static_cast<std::uint64_t>(i));
    return value;
  }
  // Moves `at` behind it.
  std::uint64_t varint(std::uint64_t* at) const {
    std::uint64_t value = 0;
    for (int i = 0; i < 9; ++i) {
      const unsigned char next = byte((*at)++);
      if (i == 8) return value << 8 | next;
      value = value << 7 | (next & 0x7f);
      if ((next & 0x80) == 0) break;
    }
    return value;
  }

 private:
  unsigned char byte(std::uint64_t at) const {
    return at < bytes_.size() ? static_cast<unsigned char>(bytes_[at]) : 0;
  }
  std::string bytes_;
};

std::uint64_t child_for(const Page& page, std::uint64_t sequence) {
  for (std::uint64_t i = 0; i < page.cells(); ++i) {
    std::uint64_t at = page.cell(i) + 4;
    if (page.varint(&at) >= sequence) return page.number(page.cell(i), 4);
  }
  return page.right();
}

std::uint64_t place_in(const Page& leaf, std::uint64_t sequence) {
  for (std::uint64_t i = 0; i < leaf.cells(); ++i) {
    std::uint64_t at = leaf.cell(i);
    (void)leaf.varint(&at);  // the size of its payload
    if (leaf.varint(&at) == sequence) return leaf.cell(i);
  }
  return 0;
}

bool has_wal(const std::string& path) {
  struct stat info {};
  return ::stat((path + "-wal").c_str(), &info) == 0 && info.st_size > 0;
}

}  // namespace

std::optional<std::uint64_t> place_of_row(const std::string& path, std::uint64_t sequence) {
  const Pages pages(path);
  if (pages.size() == 0 || has_wal(path)) return std::nullopt;
  std::uint64_t number = kRoot;
  for (int depth = 0; depth < kMaxDepth && number > 0; ++depth) {
    const Page page(pages.read(number));
    const std::uint64_t begin = (number - 1) * pages.size();
    if (page.kind() != kInterior) return begin + place_in(page, sequence);
    number = child_for(page, sequence);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> place_of_page(const std::string& path, std::uint64_t page) {
  const Pages pages(path);
  if (pages.size() == 0 || page == 0) return std::nullopt;
  return (page - 1) * pages.size();
}

}  // namespace lockstep::launcher
