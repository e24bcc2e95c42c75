#include "runner/container/infiniband.h"

#include <unistd.h>

#include <algorithm>

#include "common/io/file_system.h"

namespace lockstep::runner {
namespace {

constexpr char kFolderOfDevices[] = "/infiniband";
constexpr std::size_t kMostDevices = 256;

}  // namespace

std::vector<std::string> infiniband_devices(const std::string& dev) {
  std::vector<std::string> devices;
  const std::string folder = dev + kFolderOfDevices;
  const auto names = io::list_directory(folder);
  if (!names) return devices;
  const bool has_verbs = std::any_of(names->begin(), names->end(), [](const std::string& name) {
    return name.starts_with("uverbs");
  });
  if (!has_verbs) return devices;
  for (const std::string& name : *names)
    if ((name.starts_with("uverbs") || name == "rdma_cm") && devices.size() < kMostDevices)
      devices.push_back(folder + "/" + name);
  return devices;
}

std::vector<std::string> ours_of(const std::vector<std::string>& devices) {
  std::vector<std::string> ours;
  for (const std::string& device : devices)
    if (::access(device.c_str(), R_OK | W_OK) == 0) ours.push_back(device);
  return ours;
}

}  // namespace lockstep::runner
