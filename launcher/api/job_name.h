#pragma once
// Names for jobs that were submitted without one, in Azure's form: colour, animal, ten letters.

#include <cstdint>
#include <string>

namespace lockstep::launcher {

// Makes a name; the same `random` gives the same name. With 64 random bits a clash is unlikely; the
// core refuses a submission whose name is taken.
std::string generated_job_name(std::uint64_t random);

}  // namespace lockstep::launcher
