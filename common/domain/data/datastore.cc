#include "common/domain/data/datastore.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace lockstep {

Word describe(DatastoreKind kind) {
  switch (kind) {
    case DatastoreKind::directory: return {1, "directory"};
    case DatastoreKind::rclone: return {2, "rclone"};
  }
  return {};
}
std::string_view to_string(DatastoreKind kind) { return describe(kind).word; }

bool valid_datastore_name(std::string_view name) {
  const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0; };
  return !name.empty() && name.size() <= kMaxDatastoreNameBytes && is_letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](unsigned char c) {
           return c < 0x80 && (is_letter(c) || c == '_' || c == '-');
         });
}

std::string datastore_name_form() {
  return fmt::format("1 to {} letters, digits, '_' or '-', beginning with a letter or a digit",
                     kMaxDatastoreNameBytes);
}

Status validate(const DatastorePath& place) {
  const auto invalid = [](std::string message) {
    return make_error(ErrorCode::invalid_argument, std::move(message));
  };
  if (!valid_datastore_name(place.datastore))
    return invalid(fmt::format("the datastore's name is not {}", datastore_name_form()));
  if (!place.directory.starts_with('/')) return invalid("its directory is not absolute");
  if (place.directory.size() + place.path.size() > kMaxDatastorePathBytes)
    return invalid("its path is too long");
  if (place.path.starts_with('/')) return invalid("its path leaves the datastore");
  for (std::size_t begin = 0; begin <= place.path.size();) {
    const std::size_t end = std::min(place.path.find('/', begin), place.path.size());
    if (place.path.compare(begin, end - begin, "..") == 0)
      return invalid("its path leaves the datastore");
    begin = end + 1;
  }
  for (const std::string* text : {&place.directory, &place.path})
    if (std::any_of(text->begin(), text->end(),
                    [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
      return invalid("its path has a control character");
  return {};
}

}  // namespace lockstep
