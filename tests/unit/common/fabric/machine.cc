#include "tests/unit/common/fabric/machine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "agent/inventory/fabric_gpus.h"
#include "common/io/file_system.h"

namespace lockstep::test {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, separator);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

std::vector<int> numbers_of(const std::string& text) {
  std::vector<int> numbers;
  for (const std::string& part : split(text, ',')) numbers.push_back(std::stoi(part));
  return numbers;
}

// A backslash with an n is the end of a line.
std::string with_lines(std::string text) {
  for (auto at = text.find("\\n"); at != std::string::npos; at = text.find("\\n", at))
    text.replace(at, 2, "\n");
  return text;
}

}  // namespace

// "net eth0 mtu=1500 up": a verb, a name, keys with values and flags.
struct Machine::Line {
  std::string verb, name, rest;  // `rest`: what follows the name
  std::multimap<std::string, std::string> values;

  explicit Line(const std::string& text) {
    const auto words = split(text, ' ');
    verb = words.at(0);
    name = words.size() > 1 ? words[1] : "";
    const auto at = text.find(name, verb.size());
    rest = at == std::string::npos || at + name.size() >= text.size()
               ? ""
               : text.substr(at + name.size() + 1);
    for (std::size_t i = 2; i < words.size(); ++i) {
      const auto equals = words[i].find('=');
      values.emplace(words[i].substr(0, equals),
                     equals == std::string::npos ? "" : words[i].substr(equals + 1));
    }
  }
  bool has(const std::string& key) const { return values.count(key) > 0; }
  std::string get(const std::string& key, const std::string& otherwise = "") const {
    const auto found = values.find(key);
    return found == values.end() ? otherwise : found->second;
  }
  int number(const std::string& key, int otherwise) const {
    return has(key) ? std::stoi(get(key), nullptr, 0) : otherwise;
  }
  std::vector<std::string> all(const std::string& key) const {
    std::vector<std::string> found;
    const auto [begin, end] = values.equal_range(key);
    for (auto at = begin; at != end; ++at) found.push_back(at->second);
    return found;
  }
};

Machine::Machine(const std::string& name) {
  places_ = {root_ / "sys", root_ / "proc", root_ / "dev", root_.path()};
  std::stringstream text(read_text(std::string(LOCKSTEP_MACHINES) + "/" + name + ".txt"));
  for (std::string line; std::getline(text, line);)
    if (!line.empty() && line[0] != '#') take(Line(line));
}

NodeFabric Machine::fabric() const {
  NodeFabric fabric = agent::read_fabric(places_, links_);
  fabric.gpus = agent::probe_fabric_gpus(devices_, "/nonexistent/nvml", places_.sys);
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    fabric.gpus[i].nvlink_peers = gpus_[i].nvlink_peers;
    fabric.gpus[i].p2p_peers = gpus_[i].p2p_peers;
    fabric.gpus[i].mig = gpus_[i].mig;
  }
  fabric.memlock_bytes = memlock_;
  return fabric;
}

void Machine::take(const Line& line) {
  if (line.verb == "device") return add_device(line);
  if (line.verb == "net") return add_net(line);
  if (line.verb == "rdma") return add_rdma(line);
  if (line.verb == "gpu") return add_gpu(line);
  if (line.verb == "numa")
    return put(fmt::format("sys/devices/system/node/node{}/distance", line.name), line.rest);
  if (line.verb == "file") return put(line.name, with_lines(line.rest));
  if (line.verb == "memlock") {
    memlock_ = std::stoll(line.name);
    return;
  }
  ADD_FAILURE() << "a machine's file has no line " << line.verb;
}

void Machine::put(const std::string& path, const std::string& text) const {
  const std::string whole = root_ / path;
  ASSERT_TRUE(io::make_directories(whole.substr(0, whole.rfind('/'))));
  std::ofstream(whole, std::ios::binary | std::ios::trunc) << text << '\n';
}

void Machine::point(const std::string& path, const std::string& target) const {
  const std::string whole = root_ / path;
  ASSERT_TRUE(io::make_directories(whole.substr(0, whole.rfind('/'))));
  std::filesystem::create_symlink(root_ / target, whole);
}

std::string Machine::device_folder(const std::string& path) const { return "sys/devices/" + path; }

void Machine::add_device(const Line& line) {
  const std::string folder = device_folder(line.name);
  put(folder + "/numa_node", line.get("numa", "-1"));
  const std::string own = line.name.substr(line.name.rfind('/') + 1);
  if (const std::string driver = line.get("driver"); !driver.empty()) {
    ASSERT_TRUE(io::make_directories(root_ / ("sys/bus/pci/drivers/" + driver)));
    point(folder + "/driver", "sys/bus/pci/drivers/" + driver);
  }
  point("sys/bus/pci/devices/" + own, folder);
}

int Machine::index_of(const std::string& name) const {
  for (const agent::NetworkLink& link : links_)
    if (link.name == name) return link.index;
  return 0;
}

void Machine::add_net(const Line& line) {
  agent::NetworkLink link;
  link.index = static_cast<int>(links_.size()) + 1;
  link.name = line.name;
  link.kind = line.get("kind");
  link.mtu = line.number("mtu", 1'500);
  link.master = line.has("master") ? index_of(line.get("master")) : 0;
  link.below = line.has("below") ? index_of(line.get("below")) : 0;
  link.up = line.has("up");
  link.loopback = line.has("loopback");
  link.default_route = line.has("default");
  for (const std::string& address : line.all("addr")) {
    const auto slash = address.find('/');
    link.addresses.push_back({address.substr(0, slash), std::stoi(address.substr(slash + 1))});
  }
  if (!line.has("hidden")) {
    const std::string folder = "sys/class/net/" + link.name;
    put(folder + "/ifindex", std::to_string(link.index));
    put(folder + "/speed", line.get("speed", "-1"));
    if (line.has("device")) point(folder + "/device", device_folder(line.get("device")));
  }
  links_.push_back(std::move(link));
}

void Machine::add_rdma(const Line& line) {
  const std::string device = "sys/class/infiniband/" + line.name;
  const int number = line.number("port", 1);
  const std::string port = fmt::format("{}/ports/{}", device, number);
  const bool is_active = line.get("state", "ACTIVE") == "ACTIVE";
  put(port + "/state", (is_active ? "4: " : "1: ") + line.get("state", "ACTIVE"));
  put(port + "/link_layer", line.get("layer", "InfiniBand"));
  put(port + "/rate", line.get("rate", "0") + " Gb/sec (4X)");
  put(port + "/lid", line.get("lid", "0x0"));
  put(device + "/fw_ver", line.get("fw"));
  if (line.has("tc"))
    put(fmt::format("{}/tc/{}/traffic_class", device, number), "Global tclass=" + line.get("tc"));
  if (line.has("device")) {
    point(device + "/device", device_folder(line.get("device")));
    if (line.has("net"))
      put(fmt::format("{}/net/{}/dev_port", device_folder(line.get("device")), line.get("net")),
          std::to_string(number - 1));
  } else if (line.has("net")) {
    put(device + "/parent", line.get("net"));
  }
  const std::map<std::string, std::string> types = {
      {"v1", "IB/RoCE v1"}, {"v2", "RoCE v2"}, {"ib", "IB/RoCE v1"}};
  for (const std::string& gid : line.all("gid")) {
    const auto parts = split(gid, ',');
    put(port + "/gids/" + parts.at(0), parts.at(1));
    put(port + "/gid_attrs/types/" + parts.at(0), types.at(parts.at(2)));
    if (parts.size() > 3) put(port + "/gid_attrs/ndevs/" + parts.at(0), parts.at(3));
  }
  for (const std::string& pkey : line.all("pkey")) {
    const auto parts = split(pkey, ',');
    put(port + "/pkeys/" + parts.at(0), parts.at(1));
  }
}

void Machine::add_gpu(const Line& line) {
  const std::string path = line.get("device");
  GpuDevice device;
  device.index = std::stoi(line.name);
  device.pci_bus_id = "0000" + path.substr(path.rfind('/') + 1);
  devices_.push_back(device);
  FabricGpu gpu;
  gpu.nvlink_peers = numbers_of(line.get("nvlink"));
  gpu.p2p_peers = numbers_of(line.get("p2p"));
  gpu.mig = line.has("mig");
  gpus_.push_back(std::move(gpu));
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

}  // namespace lockstep::test
