#pragma once
// The path of a data input or of registered data: what kind of place it names, and whether the
// files that it names on this machine are of the type that they should be.

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/domain/data/inputs.h"

namespace lockstep::spec {

bool is_web_path(std::string_view path);
// The address for others than its writer: without the user's name and password and the values of
// its query, which may be credentials: "http://***@HOST/d.txt?sig=***".
std::string without_credentials(std::string_view address);
// Whether a path is in a store that Azure takes and Lockstep does not, yet.
bool is_cloud_path(std::string_view path);
// "file:./data", "file:///data" -> "./data", "/data"; any other as it is.
std::string without_file_scheme(std::string_view path);

// The absolute path, relative to the folder of `file` ("": to the working directory), without "/"
// at its end.
std::string absolute_path(const std::string& file, const std::string& path);

// Checks that `path` exists and is what `type` says, and sets `file` to its name if it is a file.
Status check_files(const std::string& path, InputType type, std::string& file);

}  // namespace lockstep::spec
