#pragma once
// The name of a container's image, in the grammar of docker and podman:
// [HOST[:PORT]/]PATH[/PATH…][:TAG][@sha256:HEX]. Source: the distribution project's `reference`.

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace lockstep {

inline constexpr std::size_t kMaxImageNameBytes = 255;  // the longest name, without tag and digest

// Checks the name of an image. Errors begin with the name in quotes.
Status check_image_name(std::string_view image);

// Whether it is of the images that lockstep-agent makes and names in the engines of nodes,
// "lockstep/env:…". Each belongs to one job's user. `image` may have a tag or a digest.
bool is_lockstep_image(std::string_view image);

// Appends ":latest" to a name that has neither tag nor digest, because engines could take it for
// the beginning of an image's id ("3" for any id that begins with 3). Ids ("sha256:HEX") stay as
// they are.
std::string tagged_image_name(std::string_view image);

// "debian:12" -> "docker.io/library/debian:12": docker expands short names so, podman does not.
std::string full_image_name(const std::string& image);

// Completes the name of an image as docker does, so that each image has one name: "python",
// "python:latest" and "docker.io/python" become "docker.io/library/python:latest". A name with a
// digest loses its tag, which docker ignores. `image` must be valid.
std::string normal_image_name(std::string_view image);

}  // namespace lockstep
