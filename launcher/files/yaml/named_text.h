#pragma once
// The text of a file that the command line names with -f, where "-" is standard input.

#include <functional>
#include <string>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace lockstep::spec {

// The text of a file; `path` is relative to the working directory, or absolute.
using ReadText = std::function<Result<std::string>(const std::string& path)>;

struct NamedText {
  // for errors: the path, or "standard input", whose paths begin in the working directory
  std::string name;
  std::string text;
};

// Turns UTF-16 with a byte order mark into UTF-8; any other text stays as it is.
std::string as_utf8(std::string text);

// Reads a file. Errors name it. Standard input is read to its end, so only one option can name it.
Result<NamedText> read_named_text(const std::string& path, Bytes limit);

// Wraps `read_text`: the file that is read already has the text that it had.
ReadText with_text_of(NamedText file, ReadText read_text);

}  // namespace lockstep::spec
