#pragma once
// The names that Windows, and so Azure, gives to time zones, and the zones of IANA that CLDR says
// they are.

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::io {

// "Europe/Berlin" for "W. Europe Standard Time"; "": Windows has no such zone.
std::string_view iana_zone(std::string_view windows);
std::vector<std::string> windows_zones();

}  // namespace lockstep::io
