#pragma once
// The archive of scripts/bundle on the launcher's machine: its digest, and a folder that holds it
// unpacked, for kinds whose machines see that folder.

#include <string>

#include "common/base/result.h"

namespace lockstep::compute {

// The digest of an archive: 16 hexadecimal digits that differ for different archives.
Result<std::string> bundle_digest(const std::string& archive);

// "bundle-DIGEST": the name of the folder that unpack_bundle() makes.
std::string bundle_folder(const std::string& digest);

// Unpacks the archive into FOLDER/bundle-DIGEST, unless this boot has done it already. The name
// appears when everything is below it. Everybody may read its files.
Status unpack_bundle(const std::string& archive, const std::string& digest,
                     const std::string& folder);

}  // namespace lockstep::compute
