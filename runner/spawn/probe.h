#pragma once
// What an image can do, asked from inside a container of it: where shells are, the version of its
// own C library, and how much memory may be locked. It starts nothing.

#include <string>

namespace lockstep::spawn {

// Lines of "<key> <value>":
//   bash yes|no       /bin/bash can be executed
//   sh yes|no         /bin/sh can
//   glibc 2.36|-      the GNU C library below `root`; - = there is none
//   memlock unlimited|<bytes>   the hard limit
std::string probe(const std::string& root = "");

}  // namespace lockstep::spawn
