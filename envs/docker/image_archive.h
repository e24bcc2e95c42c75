#pragma once
// The archive of one image, as engines save and load it, and the folder that a lock's tree has it
// in: manifest.json, the configuration, the layers, nothing else. What comes from an engine or,
// in a tree, from another node is checked entry by entry: only names of the known layouts
// (docker-archive, OCI), only regular files, no names for the image. No program reads or writes
// these files for us. See docs/decisions/061-whose-locks.md.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/io/beneath.h"

namespace lockstep::envs {

// Whether an archive may have a file of this name: "manifest.json", "index.json", "oci-layout",
// "HEX.json", "HEX.tar", "HEX/layer.tar", "blobs/sha256/HEX", with 64 hexadecimal digits.
bool is_image_file(std::string_view name);

// Unpacks the archive that `docker save` or `podman save` prints, as it comes, into a folder.
class ImageUnpacker {
 public:
  explicit ImageUnpacker(io::Folder folder) : folder_(std::move(folder)) {}

  Status take(std::string_view bytes);
  // Ends the archive after its last byte: writes manifest.json (and index.json) anew, without the
  // image's names. Returns corrupt if the archive is cut off, or if its manifest does not describe
  // one image.
  Status finish();

 private:
  struct Entry {
    std::string name, link;
    char type = '0';
    std::uint64_t size = 0;
  };
  Status take_header(std::string_view block);
  Status begin(Entry entry);
  Status take_content(std::string_view bytes);
  Status end_content();

  const io::Folder folder_;
  std::string header_;      // the header of the next entry, as far as it has arrived
  Entry entry_;             // the entry whose content arrives
  std::uint64_t left_ = 0;  // bytes of its content to come, and then of its padding
  std::uint64_t padding_ = 0;
  std::string text_;  // content that is kept in memory: names, manifests
  bool is_text_ = false;
  io::Fd file_;                        // the file for other content; empty: the content is dropped
  std::string long_name_, long_link_;  // names that an entry gives for the next one
  std::uint64_t long_size_ = 0;
  bool has_long_size_ = false;
  std::map<std::string, std::string> links_;  // symbolic and hard ones: name -> file
  std::string manifest_, index_;
};

// Reads the folder of an image and gives the bytes of its archive, one piece after the other.
class ImagePacker {
 public:
  // Opens the folder; returns corrupt if it does not have one image.
  static Result<ImagePacker> open(io::Folder folder);

  // "": that was all. Valid until the next call.
  Result<std::string_view> next();

 private:
  struct Item {
    std::string name;
    std::string text;  // the content, if the entry has no file
    std::string file;  // the entry's file in the folder; "" = `text` is the content
  };
  explicit ImagePacker(io::Folder folder) : folder_(std::move(folder)) {}
  Status add_file(const std::string& name);
  Status add_index();
  Result<std::string_view> begin(const Item& item);
  std::string_view end_of_archive();

  io::Folder folder_;
  std::vector<Item> items_;
  std::size_t at_ = 0;  // the next entry's index
  io::Fd file_;         // the file of the entry before
  std::string shown_;   // the entry's name
  std::uint64_t left_ = 0, padding_ = 0;
  bool has_ended_ = false;
  std::string buffer_;
};

}  // namespace lockstep::envs
