#pragma once
// The things that a registered component may not name. Its steps run as jobs of the user who uses
// it, with that user's rights, but another user may have written it: files of the user's machine,
// secrets and jobs that it names would become readable to its code. The user may pass any of these
// as an input (docs/decisions/060-registered-components.md).

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// Returns permission_denied unless `path`, at `place` in a fetched component, is one of the
// component's own files after following symlinks. In other files any path is allowed.
Status check_is_own_file(const Source& source, const Place& place, const std::string& path);
// The same for a component whose copy is in `folder`; "" = it is not a copy.
Status check_is_own_file(const std::string& folder, const Source& source, const Place& place,
                         const std::string& path);

// Returns an error if a registered component names an address or file as the path of an input.
// `what`: "an address".
Status check_may_read(const Source& source, const Place& place, std::string_view what);

// Returns an error if a registered component names a secret in a variable of its step.
Status check_has_no_secret(const Source& source, const YamlEntry& variable);

}  // namespace lockstep::spec
