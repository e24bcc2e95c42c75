#pragma once
// A public key as one word that people copy: "lskey" and 56 lower-case letters and digits, the last
// four of which are a checksum. No character of it means anything to a shell, and a double click
// selects all of it. On the wire and in files keys stay z85 (ZeroMQ's own form).

#include <string>
#include <string_view>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace lockstep {

std::string key_word(const PublicKey& key);  // of a key that is not z85: its text, unchanged

// The word, or z85 as older programs print it. invalid_argument: says what is wrong with it.
Result<PublicKey> key_from_word(std::string_view text);

}  // namespace lockstep
