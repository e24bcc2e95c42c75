#pragma once
// Examines an image from inside one of its containers: which shells it has, the version of its C
// library, and how much memory may be locked. It starts no process.

#include <string>

namespace lockstep::spawn {

// Lines of "<key> <value>":
//   bash yes|no       /bin/bash can be executed
//   sh yes|no         /bin/sh can be executed
//   glibc 2.36|-      the version of the GNU C library below `root`; - = there is none
//   memlock unlimited|<bytes>   the hard limit of locked memory
std::string probe(const std::string& root = "");

}  // namespace lockstep::spawn
