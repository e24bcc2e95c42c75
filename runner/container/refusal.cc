#include "runner/container/refusal.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace lockstep::runner {
namespace {

// Messages in lower case, of docker 20 to 28, podman 4 and 5, and runc.
constexpr std::string_view kRefused[] = {"invalid",
                                         "unknown capability",
                                         "unknown flag",
                                         "unknown shorthand flag",
                                         "unknown mount option",
                                         "unrecognized",
                                         "must be formatted",
                                         "must be an absolute path",
                                         "is not allowed",
                                         "is not an ip address",
                                         "incorrect mount format",
                                         "value out of range",
                                         "can not be less than",
                                         "requires name=soft:hard"};
// These take precedence over the others: the cause is the node's or may pass, so another try may
// work.
constexpr std::string_view kOfTheNode[] = {
    "cannot connect to the docker daemon",
    "error during connect",
    "invalid character",  // a truncated answer, or one of another program
    "permission denied",
    "operation not permitted",
    "no such file or directory",
    "does not exist",
    "no such image",
    "image not known",
    "no such container",
    "no space left on device",
    "runtime name",
    "oci runtime \"",
    "error mounting \"/",  // the source of a bind mount
};

}  // namespace

bool blames_arguments(std::string_view words) {
  std::string text(words);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto has = [&](std::string_view sign) { return text.find(sign) != text.npos; };
  return std::any_of(std::begin(kRefused), std::end(kRefused), has) &&
         std::none_of(std::begin(kOfTheNode), std::end(kOfTheNode), has);
}

}  // namespace lockstep::runner
