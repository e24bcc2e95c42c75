#include "agent/inventory/links.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <map>

#include "common/io/file_system.h"

namespace lockstep::agent {
namespace {

// Larger than any part of a dump that the kernel sends.
constexpr std::size_t kAnswerBytes = 64u << 10;
// Far above a machine with many containers, which has hundreds.
constexpr std::size_t kMostLinks = 10'000;
constexpr time_t kAnswerSeconds = 5;

// The attributes that follow a message's fixed part. Reads only within the message.
class Attributes {
 public:
  Attributes(const void* begin, std::size_t bytes)
      : next_(static_cast<const rtattr*>(begin)), left_(static_cast<int>(bytes)) {}
  // The next attribute; null after the last one.
  const rtattr* take() {
    if (!RTA_OK(next_, left_)) return nullptr;
    const rtattr* const taken = next_;
    next_ = RTA_NEXT(next_, left_);
    return taken;
  }

 private:
  const rtattr* next_;
  int left_;
};

std::size_t size_of(const rtattr& attribute) { return RTA_PAYLOAD(&attribute); }

std::string text_in(const rtattr& attribute) {
  const auto* begin = static_cast<const char*>(RTA_DATA(&attribute));
  return {begin, ::strnlen(begin, size_of(attribute))};
}

int number_of_attribute(const rtattr& attribute) {
  int number = 0;
  if (size_of(attribute) >= sizeof number)
    std::memcpy(&number, RTA_DATA(&attribute), sizeof number);
  return number;
}

// ---- a dump ------------------------------------------------------------------------------------

using TakeMessage = std::function<void(const nlmsghdr& message)>;

Status ask(int socket, std::uint16_t type, unsigned char family) {
  struct {
    nlmsghdr header;
    rtgenmsg body;
  } request{};
  request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.body);
  request.header.nlmsg_type = type;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.header.nlmsg_seq = type;
  request.body.rtgen_family = family;
  if (::send(socket, &request, request.header.nlmsg_len, 0) < 0)
    return errno_error(errno, "ask the kernel for its network links");
  return {};
}

Status dump(int socket, std::uint16_t type, unsigned char family, const TakeMessage& take) {
  TRY(ask(socket, type, family));
  std::vector<char> answer(kAnswerBytes);
  for (;;) {
    const ssize_t got = ::recv(socket, answer.data(), answer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(errno, "read the kernel's network links");
    const auto size = static_cast<std::size_t>(got);
    for (std::size_t at = 0; at + sizeof(nlmsghdr) <= size;) {
      const auto* message = reinterpret_cast<const nlmsghdr*>(answer.data() + at);
      if (message->nlmsg_len < sizeof(nlmsghdr) || message->nlmsg_len > size - at) break;
      if (message->nlmsg_type == NLMSG_DONE) return {};
      if (message->nlmsg_type == NLMSG_ERROR)
        return make_error(ErrorCode::io, "the kernel does not list its network links");
      take(*message);
      at += NLMSG_ALIGN(message->nlmsg_len);
    }
  }
}

template <typename Body>
const Body* body_of(const nlmsghdr& message) {
  if (message.nlmsg_len < NLMSG_LENGTH(sizeof(Body))) return nullptr;
  return static_cast<const Body*>(NLMSG_DATA(&message));
}
template <typename Body>
Attributes attributes_of(const nlmsghdr& message) {
  const auto* begin = static_cast<const char*>(NLMSG_DATA(&message)) + NLMSG_ALIGN(sizeof(Body));
  const std::size_t fixed = NLMSG_LENGTH(NLMSG_ALIGN(sizeof(Body)));
  return {begin, message.nlmsg_len > fixed ? message.nlmsg_len - fixed : 0};
}

// ---- links, addresses, routes ------------------------------------------------------------------

using Links = std::map<int, NetworkLink>;  // links by their index

std::string kind_in(const rtattr& info) {
  Attributes nested(RTA_DATA(&info), size_of(info));
  while (const rtattr* one = nested.take())
    if (one->rta_type == IFLA_INFO_KIND) return text_in(*one);
  return "";
}

void take_link(const nlmsghdr& message, Links* links) {
  const auto* body = body_of<ifinfomsg>(message);
  if (message.nlmsg_type != RTM_NEWLINK || body == nullptr || links->size() >= kMostLinks) return;
  NetworkLink link;
  link.index = body->ifi_index;
  link.up = (body->ifi_flags & IFF_UP) != 0 && (body->ifi_flags & IFF_RUNNING) != 0;
  link.loopback = (body->ifi_flags & IFF_LOOPBACK) != 0;
  bool is_elsewhere = false;
  Attributes attributes = attributes_of<ifinfomsg>(message);
  while (const rtattr* one = attributes.take()) {
    switch (one->rta_type & NLA_TYPE_MASK) {
      case IFLA_IFNAME: link.name = text_in(*one); break;
      case IFLA_MTU: link.mtu = number_of_attribute(*one); break;
      case IFLA_LINK: link.below = number_of_attribute(*one); break;
      case IFLA_MASTER: link.master = number_of_attribute(*one); break;
      case IFLA_LINKINFO: link.kind = kind_in(*one); break;
      case IFLA_LINK_NETNSID: is_elsewhere = true; break;
      default: break;  // attributes that are not needed
    }
  }
  // `below` of a veth or a macvlan may be a link in another namespace, and means nothing here.
  if (is_elsewhere || link.below == link.index) link.below = 0;
  if (!link.name.empty()) links->emplace(link.index, std::move(link));
}

void take_address(const nlmsghdr& message, Links* links) {
  const auto* body = body_of<ifaddrmsg>(message);
  if (message.nlmsg_type != RTM_NEWADDR || body == nullptr) return;
  const auto link = links->find(static_cast<int>(body->ifa_index));
  if (link == links->end() || link->second.addresses.size() >= kMaxFabricAddresses) return;
  const std::size_t bytes = body->ifa_family == AF_INET ? 4 : 16;
  const rtattr* local = nullptr;
  const rtattr* address = nullptr;
  Attributes attributes = attributes_of<ifaddrmsg>(message);
  while (const rtattr* one = attributes.take()) {
    if (one->rta_type == IFA_LOCAL) local = one;
    // The address of a point-to-point link's other end.
    if (one->rta_type == IFA_ADDRESS) address = one;
  }
  const rtattr* own = local != nullptr ? local : address;
  char text[INET6_ADDRSTRLEN] = {};
  if (own == nullptr || size_of(*own) < bytes ||
      ::inet_ntop(body->ifa_family, RTA_DATA(own), text, sizeof text) == nullptr)
    return;
  link->second.addresses.push_back({text, body->ifa_prefixlen});
}

void take_route(const nlmsghdr& message, Links* links) {
  const auto* body = body_of<rtmsg>(message);
  if (message.nlmsg_type != RTM_NEWROUTE || body == nullptr) return;
  if (body->rtm_dst_len != 0 || body->rtm_type != RTN_UNICAST || body->rtm_table != RT_TABLE_MAIN)
    return;
  int out = 0;
  Attributes attributes = attributes_of<rtmsg>(message);
  while (const rtattr* one = attributes.take()) {
    if (one->rta_type == RTA_OIF) out = number_of_attribute(*one);
    if (one->rta_type == RTA_MULTIPATH && size_of(*one) >= sizeof(rtnexthop))
      out = static_cast<const rtnexthop*>(RTA_DATA(one))->rtnh_ifindex;
  }
  const auto link = links->find(out);
  if (link != links->end()) link->second.default_route = true;
}

}  // namespace

Result<std::vector<NetworkLink>> read_links() {
  const io::Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket) return errno_error(errno, "open a netlink socket");
  const timeval time_limit{kAnswerSeconds, 0};
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &time_limit, sizeof time_limit);
  Links links;
  TRY(dump(socket.get(), RTM_GETLINK, AF_UNSPEC,
           [&](const nlmsghdr& message) { take_link(message, &links); }));
  for (const unsigned char family : {AF_INET, AF_INET6}) {
    TRY(dump(socket.get(), RTM_GETADDR, family,
             [&](const nlmsghdr& message) { take_address(message, &links); }));
    TRY(dump(socket.get(), RTM_GETROUTE, family,
             [&](const nlmsghdr& message) { take_route(message, &links); }));
  }
  std::vector<NetworkLink> all;
  for (auto& [index, link] : links) all.push_back(std::move(link));
  return all;
}

}  // namespace lockstep::agent
