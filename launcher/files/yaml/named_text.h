#pragma once
// The text of a file that the command line names with -f, where "-" is standard input.

#include <string>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "launcher/files/environment/requirements.h"

namespace lockstep::spec {

struct NamedText {
  std::string name;  // for errors: the path, or "standard input", whose paths begin where we are
  std::string text;
};

// UTF-16 with its mark becomes UTF-8; anything else stays as it is.
std::string as_utf8(std::string text);

// Errors name the file. Standard input is read to its end, so only one option can name it.
Result<NamedText> read_named_text(const std::string& path, Bytes limit);

// `read_text`, but the file that is read already has the text that it had.
ReadText with_text_of(NamedText file, ReadText read_text);

}  // namespace lockstep::spec
