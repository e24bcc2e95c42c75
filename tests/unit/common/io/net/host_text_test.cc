#include "common/io/net/host_text.h"

#include <gtest/gtest.h>

#include "common/io/net/transport.h"
#include "tests/unit/common/io/helpers.h"

namespace lockstep::io {
namespace {

bool can_dial(const std::string& host) {
  EventLoop loop;
  Transport transport(loop, [](const auto&, const auto&) { return true; });
  const KeyPair keys = generate_key_pair();
  return ClientSocket::connect(transport, "tcp://" + host + ":9", keys.public_key, keys, {})
      .has_value();
}

TEST(Host, WhatPassesCanBeDialled) {
  for (const std::string host : {"head", "head-1.lab_2.example.", "10.0.0.1", "127.0.0.1", "[::1]",
                                 "::1", "[fe80::1%lo]", "7"}) {
    EXPECT_TRUE(is_host(host)) << host;
    EXPECT_TRUE(can_dial(host)) << host;
  }
}

TEST(Host, WhatLibzmqRefusesToDialIsNone) {
  for (const std::string host : {" ", "he ad", "head ", "user@head", "*", "_head", "-head",
                                 "h\xc3\xa9"
                                 "ad",
                                 "head/x", "a\tb", ".head", "\xef\xbc\x91"}) {
    EXPECT_FALSE(is_host(host)) << host;
    EXPECT_FALSE(can_dial(host)) << host;
  }
  for (const std::string host :
       {"[head]", "[]", "[::1", "::1]", "a:b", "[::1%]", "a;b", "a*", "[::1%a b]", "[10.0.0.1]"})
    EXPECT_FALSE(is_host(host)) << host;
  EXPECT_FALSE(is_host(std::string("::1\0x", 5)));
  EXPECT_FALSE(is_host(std::string(254, 'a')));
}

}  // namespace
}  // namespace lockstep::io
