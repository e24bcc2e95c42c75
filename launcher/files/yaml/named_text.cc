#include "launcher/files/yaml/named_text.h"

#include <utility>

#include "common/base/utf8.h"
#include "common/io/file_system.h"

namespace lockstep::spec {

std::string as_utf8(std::string text) {
  auto converted = from_utf16(text);
  return converted ? *std::move(converted) : text;
}

Result<NamedText> read_named_text(const std::string& path, Bytes limit) {
  const bool is_input = path == "-";
  auto text = is_input ? io::read_standard_input(limit) : io::read_file(path, limit);
  if (!text) return std::move(text).error();
  return NamedText{is_input ? "standard input" : path, as_utf8(*std::move(text))};
}

ReadText with_text_of(NamedText file, ReadText read_text) {
  return [file = std::move(file),
          read_text = std::move(read_text)](const std::string& path) -> Result<std::string> {
    if (path == file.name) return file.text;
    return read_text(path);
  };
}

}  // namespace lockstep::spec
