#include "envs/docker/image_archive.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "common/base/digest.h"
#include "common/io/disk.h"
#include "envs/docker/image_manifest.h"
#include "envs/docker/tar_header.h"

namespace lockstep::envs {

namespace {

constexpr std::size_t kMaxTextBytes = 4u << 20;  // the most bytes of a manifest
constexpr std::size_t kMaxNameBytes = 4096;      // the most bytes of a long name
constexpr std::size_t kMaxFiles = 10'000;
constexpr std::size_t kPieceBytes = 256u << 10;
constexpr std::string_view kLayoutText = "{\"imageLayoutVersion\":\"1.0.0\"}";

// Resolves "a/b/../c" to "a/c"; nullopt: the path leads out of the archive or is absolute.
std::optional<std::string> resolved(std::string_view folder, std::string_view link) {
  if (link.starts_with('/')) return std::nullopt;
  std::vector<std::string_view> parts;
  for (std::string_view rest : {folder, link})
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find('/'));
      rest.remove_prefix(std::min(part.size() + 1, rest.size()));
      if (part.empty() || part == ".") continue;
      if (part != "..") {
        parts.push_back(part);
        continue;
      }
      if (parts.empty()) return std::nullopt;
      parts.pop_back();
    }
  return fmt::format("{}", fmt::join(parts, "/"));
}

std::string_view folder_of(std::string_view name) {
  const auto slash = name.rfind('/');
  return slash == name.npos ? std::string_view() : name.substr(0, slash);
}

// The file that a layer's link refers to: engines store equal layers once.
std::optional<std::string> target_of(std::string_view name, std::string_view link) {
  auto target = resolved(folder_of(name), link);
  if (!target || !is_content(*target)) return std::nullopt;
  return target;
}

// ---- files of the folder

Status enter_or_make(const io::Folder& folder, std::string_view name, io::Fd& file) {
  std::string_view rest = name;
  std::optional<io::Folder> inner;
  const io::Folder* at = &folder;
  for (auto slash = rest.find('/'); slash != rest.npos; slash = rest.find('/')) {
    bool is_new = false;
    TRY_ASSIGN(io::Folder next, at->make(std::string(rest.substr(0, slash)), is_new));
    inner.emplace(std::move(next));
    at = &*inner;
    rest.remove_prefix(slash + 1);
  }
  file = io::open_beneath(at->fd(), std::string(rest),
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (!file) return errno_error(errno, fmt::format("cannot make {}/{}", folder.shown(), name));
  return {};
}

Status write_text(const io::Folder& folder, std::string_view name, std::string_view text) {
  io::Fd file;
  TRY(enter_or_make(folder, name, file));
  return io::write_all(file.get(), text);
}

// Opens a regular file; nullopt: it is missing, or is not a regular file.
std::optional<io::Fd> open_file(const io::Folder& folder, const std::string& name,
                                std::uint64_t& size) {
  io::Fd file = io::open_beneath(folder.fd(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  size = static_cast<std::uint64_t>(info.st_size);
  return file;
}

// Reads a file; nullopt: it is missing.
Result<std::optional<std::string>> read_text(const io::Folder& folder, std::string_view name) {
  std::uint64_t size = 0;
  const auto file = open_file(folder, std::string(name), size);
  if (!file) return std::optional<std::string>();
  if (size > kMaxTextBytes) return broken(fmt::format("{} is too long", name));
  std::string text(size, '\0');
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t got =
        ::pread(file->get(), text.data() + at, text.size() - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return errno_error(got == 0 ? EIO : errno, fmt::format("cannot read {}", name));
    at += static_cast<std::size_t>(got);
  }
  return std::optional(std::move(text));
}

std::optional<std::string> link_at(const io::Folder& folder, const std::string& name) {
  const io::Fd link = io::open_beneath(folder.fd(), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (!link) return std::nullopt;
  std::array<char, 256> text{};
  const ssize_t length = ::readlinkat(link.get(), "", text.data(), text.size());
  if (length <= 0 || static_cast<std::size_t>(length) == text.size()) return std::nullopt;
  return target_of(name, std::string_view(text.data(), static_cast<std::size_t>(length)));
}

bool is_before_another(char type) { return type == 'x' || type == 'L' || type == 'K'; }

}  // namespace

bool is_image_file(std::string_view name) { return is_metadata(name) || is_content(name); }

// ---- what an engine saves -----------------------------------------------------------------------

Status ImageUnpacker::take(std::string_view bytes) {
  while (!bytes.empty()) {
    if (left_ > 0) {
      const auto part = bytes.substr(0, std::min<std::uint64_t>(left_, bytes.size()));
      TRY(take_content(part));
      bytes.remove_prefix(part.size());
      left_ -= part.size();
      if (left_ == 0) TRY(end_content());
    } else if (padding_ > 0) {
      const auto skipped = std::min<std::uint64_t>(padding_, bytes.size());
      bytes.remove_prefix(skipped);
      padding_ -= skipped;
    } else {
      const auto part = bytes.substr(0, kBlock - header_.size());
      header_ += part;
      bytes.remove_prefix(part.size());
      if (header_.size() < kBlock) continue;
      const std::string block = std::exchange(header_, {});
      TRY(take_header(block));
    }
  }
  return {};
}

Status ImageUnpacker::take_header(std::string_view block) {
  if (block.find_first_not_of('\0') == block.npos) return {};  // a block of zeros ends the archive
  const auto sum = number(block.substr(148, 8));
  const auto size = number(block.substr(124, 12));
  if (!sum || *sum != sum_of(block) || !size) return broken("a header of it is damaged");
  Entry entry{std::string(field(block, 0, 100)), std::string(field(block, 157, 100)), block[156],
              *size};
  if (block.substr(257, 5) == "ustar" && block[345] != '\0' && block[262] == '\0')
    entry.name = fmt::format("{}/{}", field(block, 345, 155), entry.name);
  if (entry.type == '\0') entry.type = '0';
  if (!is_before_another(entry.type) && entry.type != 'g') {
    if (!long_name_.empty()) entry.name = std::exchange(long_name_, {});
    if (!long_link_.empty()) entry.link = std::exchange(long_link_, {});
    if (std::exchange(has_long_size_, false)) entry.size = long_size_;
  }
  while (entry.name.starts_with("./")) entry.name.erase(0, 2);
  return begin(std::move(entry));
}

Status ImageUnpacker::begin(Entry entry) {
  const bool is_file = entry.type == '0';
  if (entry.type == '1' || entry.type == '2') {
    const auto target = target_of(entry.type == '1' ? "" : entry.name, entry.link);
    if (is_content(entry.name) && target && links_.size() < kMaxFiles) links_[entry.name] = *target;
    entry.size = 0;
  }
  const bool is_metadata_file = is_file && is_metadata(entry.name);
  is_text_ = is_metadata_file || is_before_another(entry.type);
  const std::size_t most = is_metadata_file ? kMaxTextBytes : kMaxNameBytes;
  if (is_text_ && entry.size > most) return broken(fmt::format("{} is too long", entry.name));
  text_.clear();
  file_.reset();
  if (is_file && is_content(entry.name)) TRY(enter_or_make(folder_, entry.name, file_));
  left_ = entry.size;
  padding_ = padding_of(entry.size);
  entry_ = std::move(entry);
  return left_ == 0 ? end_content() : Status();
}

Status ImageUnpacker::take_content(std::string_view bytes) {
  if (is_text_) text_ += bytes;
  if (file_) return io::write_all(file_.get(), bytes);
  return {};
}

Status ImageUnpacker::end_content() {
  file_.reset();
  if (entry_.type == 'L') long_name_ = text_.substr(0, text_.find('\0'));
  if (entry_.type == 'K') long_link_ = text_.substr(0, text_.find('\0'));
  if (entry_.type == '0' && entry_.name == kManifest) manifest_ = text_;
  if (entry_.type == '0' && entry_.name == kIndex) index_ = text_;
  if (entry_.type != 'x') return {};
  // Records "LENGTH KEY=VALUE\n"; LENGTH counts the whole record.
  for (std::string_view rest = text_; !rest.empty();) {
    std::size_t length = 0;
    const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
    const auto digits = static_cast<std::size_t>(end - rest.data());
    if (failed != std::errc() || length > rest.size() || length < digits + 3)
      return broken("a pax header of it is damaged");
    const std::string_view line = rest.substr(digits + 1, length - digits - 2);
    rest.remove_prefix(length);
    const auto equals = line.find('=');
    if (equals == line.npos) return broken("a pax header of it is damaged");
    const std::string_view key = line.substr(0, equals), value = line.substr(equals + 1);
    if (key == "path") long_name_ = value;
    if (key == "linkpath") long_link_ = value;
    if (key != "size") continue;
    has_long_size_ = true;
    const auto [size_end, bad] =
        std::from_chars(value.data(), value.data() + value.size(), long_size_);
    if (bad != std::errc() || size_end != value.data() + value.size())
      return broken("a pax header of it is damaged");
  }
  return {};
}

Status ImageUnpacker::finish() {
  if (left_ > 0 || padding_ > 0 || !header_.empty()) return broken("it is cut off");
  TRY_ASSIGN(Manifest manifest, manifest_from(manifest_));
  for (std::string& layer : manifest.layers) {
    // A link may refer to a link. Engines write no longer chains.
    for (int hops = 0; hops < 2; ++hops)
      if (const auto link = links_.find(layer); link != links_.end()) layer = link->second;
    std::uint64_t size = 0;
    if (!open_file(folder_, layer, size)) return broken(fmt::format("it lacks {}", layer));
  }
  TRY(write_text(folder_, kManifest, text_of(manifest)));
  if (index_.empty()) return {};
  TRY_ASSIGN(const std::string index, index_without_names(index_));
  TRY(write_text(folder_, kLayout, kLayoutText));
  return write_text(folder_, kIndex, index);
}

// ---- what an engine loads -----------------------------------------------------------------------

// Adds a file. A tree that an earlier version stored may have a link instead of a layer.
Status ImagePacker::add_file(const std::string& name) {
  const bool is_known = std::any_of(items_.begin(), items_.end(),
                                    [&](const Item& item) { return item.name == name; });
  if (is_known) return {};
  std::uint64_t size = 0;
  std::string file = name;
  for (int hops = 0; hops < 2 && !open_file(folder_, file, size); ++hops)
    if (const auto target = link_at(folder_, file)) file = *target;
  if (!open_file(folder_, file, size))
    return broken(fmt::format("{} is not a regular file of it", name));
  items_.push_back({name, "", file});
  return {};
}

// Writes the layout that engines read whose image ids are digests of manifests.
Status ImagePacker::add_index() {
  TRY_ASSIGN(const auto index, read_text(folder_, kIndex));
  if (!index) return {};
  TRY_ASSIGN(std::string text, index_without_names(*index));
  TRY_ASSIGN(const io::Folder blobs,
             folder_.enter(std::string(kBlobs.substr(0, kBlobs.size() - 1))));
  TRY_ASSIGN(const auto names, io::list_directory(fmt::format("/proc/self/fd/{}", blobs.fd())));
  if (names.size() > kMaxFiles) return broken("it has too many files");
  for (const std::string& name : names)
    if (is_hex(name)) TRY(add_file(fmt::format("{}{}", kBlobs, name)));
  items_.push_back({std::string(kLayout), std::string(kLayoutText), ""});
  items_.push_back({std::string(kIndex), std::move(text), ""});
  return {};
}

Result<ImagePacker> ImagePacker::open(io::Folder folder) {
  ImagePacker packer(std::move(folder));
  TRY_ASSIGN(const auto text, read_text(packer.folder_, kManifest));
  if (!text) return broken("it has no manifest.json");
  TRY_ASSIGN(const Manifest manifest, manifest_from(*text));
  TRY(packer.add_file(manifest.config));
  for (const std::string& layer : manifest.layers) TRY(packer.add_file(layer));
  TRY(packer.add_index());
  packer.items_.push_back({std::string(kManifest), text_of(manifest), ""});
  return packer;
}

Result<std::string_view> ImagePacker::begin(const Item& item) {
  std::uint64_t size = item.text.size();
  if (!item.file.empty()) {
    auto file = open_file(folder_, item.file, size);
    if (!file) return broken(fmt::format("{} is gone", item.file));
    file_ = *std::move(file);
    left_ = size;
    padding_ = padding_of(size);
    shown_ = item.file;
  }
  buffer_ = header_of(item.name, size);
  if (item.file.empty()) {
    buffer_ += item.text;
    buffer_.append(padding_of(size), '\0');
  }
  return std::string_view(buffer_);
}

std::string_view ImagePacker::end_of_archive() {
  buffer_.assign(has_ended_ ? 0 : 2 * kBlock, '\0');
  has_ended_ = true;
  return buffer_;
}

Result<std::string_view> ImagePacker::next() {
  if (left_ == 0 && padding_ > 0) {
    buffer_.assign(std::exchange(padding_, 0), '\0');
    return std::string_view(buffer_);
  }
  if (left_ == 0)
    return at_ < items_.size() ? begin(items_[at_++]) : Result<std::string_view>(end_of_archive());
  buffer_.resize(std::min<std::uint64_t>(left_, kPieceBytes));
  ssize_t got = 0;
  do got = ::read(file_.get(), buffer_.data(), buffer_.size());
  while (got < 0 && errno == EINTR);
  if (got < 0) return errno_error(errno, "cannot read " + shown_);
  if (got == 0) return broken(fmt::format("{} became shorter", shown_));
  buffer_.resize(static_cast<std::size_t>(got));
  left_ -= buffer_.size();
  return std::string_view(buffer_);
}

}  // namespace lockstep::envs
