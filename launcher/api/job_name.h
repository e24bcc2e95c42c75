#pragma once
// Names for jobs that were submitted without one: colour, animal, ten letters, as Azure's look.

#include <cstdint>
#include <string>

namespace lockstep::launcher {

// The same `random` gives the same name; 64 random bits make a clash unlikely, and it is refused.
std::string generated_job_name(std::uint64_t random);

}  // namespace lockstep::launcher
