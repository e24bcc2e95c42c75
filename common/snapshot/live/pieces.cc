#include "common/snapshot/live/pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "common/base/utf8.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {
namespace {

constexpr std::string_view kWhole = "whole";
constexpr std::string_view kPartial = "partial";
constexpr std::size_t kOffsetDigits = 16;

DirectoryObject object_of(Directory directory) {
  std::sort(directory.entries.begin(), directory.entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  DirectoryObject object;
  object.bytes = encode(directory);
  object.digest = sha256(object.bytes);
  return object;
}

Error corrupt(const std::string& what) {
  return make_error(ErrorCode::corrupt, "a list of files in pieces is damaged: " + what);
}

bool is_safe(const std::string& path) {
  std::size_t from = 0;
  for (int depth = 0; from <= path.size(); ++depth) {
    const auto slash = std::min(path.find('/', from), path.size());
    if (depth >= kMaxTreeDepth || !why_bad_name(path.substr(from, slash - from)).empty())
      return false;
    from = slash + 1;
  }
  return true;
}

Result<PiecedFile> file_of(const Directory& directory) {
  PiecedFile file;
  for (const Entry& entry : directory.entries) {
    if (entry.kind == EntryKind::symlink && (entry.name == kWhole || entry.name == kPartial)) {
      if (!file.path.empty()) return corrupt("a file has two states");
      file.path = entry.target;
      file.partial = entry.name == kPartial;
      continue;
    }
    Piece piece;
    const char* const end = entry.name.data() + entry.name.size();
    const auto [read, failed] = std::from_chars(entry.name.data(), end, piece.offset, 16);
    if (entry.kind != EntryKind::file || entry.name.size() != kOffsetDigits ||
        failed != std::errc() || read != end)
      return corrupt("an entry is not a piece");
    if (piece.offset != file.size() || piece.offset + entry.size < piece.offset)
      return corrupt("a piece is missing");
    piece.size = entry.size;
    piece.digest = entry.digest;
    file.mode = entry.mode;
    if (piece.size == 0) continue;
    file.pieces.push_back(piece);
    if (file.pieces.size() > kMaxPieces) return corrupt("a file has too many pieces");
  }
  if (!is_safe(file.path))
    return corrupt("a file's path is empty or too deep, or has a part that is not a name");
  return file;
}

// Files to add to a folder, by name, and folders in it that get some.
struct Added {
  std::map<std::string, const PiecedFile*> files;
  std::map<std::string, const PiecedFile*> beside;  // partial files, which never take the name
  std::map<std::string, Added> folders;
};
using Entries = std::map<std::string, Entry>;

// Numbers names that were cut to the same beginning, and goes on from the last number instead of
// from 1.
class FreeNames {
 public:
  explicit FreeNames(const Entries& taken) : taken_(taken) {}
  std::string beside(const std::string& name) {
    int& number = numbers_[partial_name(name)];
    std::string free;
    do {
      free = partial_name(name, ++number);
    } while (taken_.count(free) != 0);
    return free;
  }

 private:
  const Entries& taken_;
  std::map<std::string, int> numbers_;
};

class Placer {
 public:
  Placer(const DirectoryObjects& objects, const DigestOfFile& digest_of)
      : objects_(objects), digest_of_(digest_of) {}

  // Adds a folder. `path` ends in '/', or is empty.
  Result<Digest> add(const std::optional<Digest>& folder, const Added& added,
                     const std::string& path, std::uint64_t* size);

 private:
  Status place(const PiecedFile& file, const std::string& name, const std::string& path,
               Entries& entries);

  const DirectoryObjects& objects_;
  const DigestOfFile& digest_of_;
};

Result<Digest> Placer::add(const std::optional<Digest>& folder, const Added& added,
                           const std::string& path, std::uint64_t* size) {
  Directory directory;
  if (folder) {
    TRY_ASSIGN(const std::string bytes, objects_.read(*folder));
    TRY_ASSIGN(directory, decode_directory(bytes));
  }
  Entries entries;
  for (Entry& entry : directory.entries) {
    std::string name = entry.name;
    entries.emplace(std::move(name), std::move(entry));
  }
  for (const auto& [name, inside] : added.folders) {
    Entry& entry = entries[name];
    const bool is_there = entry.kind == EntryKind::directory;
    Entry whole{name, EntryKind::directory, is_there ? entry.mode : 0755, 0, {}, {}};
    TRY_ASSIGN(whole.digest, add(is_there ? std::optional(entry.digest) : std::nullopt, inside,
                                 path + name + "/", &whole.size));
    entry = std::move(whole);
  }
  for (const auto& [name, file] : added.files) TRY(place(*file, name, path, entries));
  FreeNames names(entries);
  for (const auto& [name, file] : added.beside)
    TRY(place(*file, names.beside(name), path, entries));
  directory.entries.clear();
  for (auto& [name, entry] : entries) directory.entries.push_back(std::move(entry));
  const std::string bytes = encode(directory);
  const Digest digest = sha256(bytes);
  if (size != nullptr) *size = bytes.size();
  TRY(objects_.write(digest, bytes));
  return digest;
}

Status Placer::place(const PiecedFile& file, const std::string& name, const std::string& path,
                     Entries& entries) {
  Entry entry{name, EntryKind::file, file.mode, file.size(), {}, {}};
  TRY_ASSIGN(entry.digest, digest_of_(file, path + name));
  entries[name] = std::move(entry);
  return {};
}

}  // namespace

std::vector<DirectoryObject> encode(const std::vector<PiecedFile>& files) {
  std::vector<DirectoryObject> objects;
  Directory root;
  for (const PiecedFile& file : files) {
    Directory directory;
    directory.entries.push_back(
        {std::string(file.partial ? kPartial : kWhole), EntryKind::symlink, 0, 0, {}, file.path});
    // A file without bytes has one empty piece, which carries the mode.
    std::vector<Piece> pieces = file.pieces;
    if (pieces.empty()) pieces.push_back({0, 0, sha256("")});
    for (const Piece& piece : pieces)
      directory.entries.push_back({fmt::format("{:016x}", piece.offset),
                                   EntryKind::file,
                                   file.mode,
                                   piece.size,
                                   piece.digest,
                                   {}});
    objects.push_back(object_of(std::move(directory)));
    root.entries.push_back({fmt::format("{:08}", root.entries.size()),
                            EntryKind::directory,
                            0755,
                            objects.back().bytes.size(),
                            objects.back().digest,
                            {}});
  }
  objects.push_back(object_of(std::move(root)));
  return objects;
}

Result<std::vector<PiecedFile>> decode_pieces(const Digest& root, const ReadObject& read) {
  TRY_ASSIGN(const std::string bytes, read(root));
  TRY_ASSIGN(const Directory list, decode_directory(bytes));
  if (list.entries.size() > kMaxPiecedFiles) return corrupt("it has too many files");
  std::vector<PiecedFile> files;
  for (const Entry& entry : list.entries) {
    if (entry.kind != EntryKind::directory) return corrupt("an entry is not a list of pieces");
    TRY_ASSIGN(const std::string one, read(entry.digest));
    TRY_ASSIGN(const Directory directory, decode_directory(one));
    TRY_ASSIGN(files.emplace_back(), file_of(directory));
  }
  return files;
}

std::string partial_name(const std::string& path, int number) {
  const auto slash = path.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  std::string ending(kPartialEnding);
  if (number > 1) ending += std::to_string(number);
  const std::string_view kept =
      head(std::string_view(path).substr(name), kMaxNameBytes - ending.size());
  return path.substr(0, name).append(kept).append(ending);
}

Result<Digest> put_in_pieces(const Digest& root, const std::vector<PiecedFile>& files,
                             const DirectoryObjects& objects, const DigestOfFile& digest_of,
                             Partial partial) {
  Added all;
  for (const PiecedFile& file : files) {
    Added* folder = &all;
    std::size_t from = 0;
    for (auto slash = file.path.find('/'); slash != std::string::npos;
         slash = file.path.find('/', from)) {
      folder = &folder->folders[file.path.substr(from, slash - from)];
      from = slash + 1;
    }
    const bool is_beside = file.partial && partial == Partial::beside;
    const PiecedFile*& added = (is_beside ? folder->beside : folder->files)[file.path.substr(from)];
    if (added == nullptr || file.partial) added = &file;
  }
  return Placer(objects, digest_of).add(root, all, "", nullptr);
}

}  // namespace lockstep::snapshot
