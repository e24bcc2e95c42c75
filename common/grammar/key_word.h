#pragma once
// A public key as one word that people can copy: "lskey" and 56 lower-case letters and digits; the
// last four are a checksum. None of its characters is special to a shell, and a double click
// selects the whole word. On the wire and in files keys stay in z85 (ZeroMQ's own form).

#include <string>
#include <string_view>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace lockstep {

std::string key_word(const PublicKey& key);  // a key that is not z85 is returned unchanged

// Reads the form that key_word() returns, and the z85 form that older programs print. Returns
// invalid_argument with what is wrong with the text.
Result<PublicKey> key_from_word(std::string_view text);

}  // namespace lockstep
