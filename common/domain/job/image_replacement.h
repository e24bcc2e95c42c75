#pragma once
// The lines that tell people that the operator's environments.map runs a job's image as an
// environment that needs no container engine (docs/decisions/058-images-without-an-engine.md).
// launcher/core and launcher/cli use them. Pure.

#include <string>
#include <vector>

#include "common/domain/job/spec.h"

namespace lockstep {

// Makes the lines: "image 'python:latest' runs in environment sklearn:3 instead, by the operator's
// environments.map", and the keys of the job that are therefore ignored. A pipeline gives the lines
// of its steps, each line once. Empty: no image is mapped.
std::vector<std::string> image_replacement_lines(const JobSpec& spec);

}  // namespace lockstep
