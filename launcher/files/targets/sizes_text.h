#pragma once
// The text of launcher/files/targets/sizes.yml, put into the program by its build.

namespace lockstep::spec {

extern const char* const kSizesText;

}  // namespace lockstep::spec
