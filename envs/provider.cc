#include "envs/provider.h"

#include <fmt/format.h>
#include <sys/utsname.h>

namespace lockstep::envs {

std::string platform_of(const std::string& python_version) {
  utsname kernel{};
  ::uname(&kernel);
  const auto minor = python_version.find('.', python_version.find('.') + 1);
  return fmt::format("linux-{}-python{}", kernel.machine, python_version.substr(0, minor));
}

}  // namespace lockstep::envs
