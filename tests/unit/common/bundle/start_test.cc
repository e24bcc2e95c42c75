// What can be tested of a bundled program's start without starting one; tests/e2e/test_bundle.py
// does.

#include "common/bundle/start.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace lockstep::bundle {
namespace {

std::string beside(const std::string& program, const char* suffix, std::size_t size = 64) {
  std::vector<char> path(4096, 'x');
  std::memcpy(path.data(), program.data(), program.size());
  return beside_program(path.data(), program.size(), size, suffix) ? path.data() : "does not fit";
}

TEST(BundleStart, TheLibrariesLieBesideTheProgramsDirectory) {
  EXPECT_EQ(beside("/opt/an odd place/bin/lockstep", "/lib/ld.so"), "/opt/an odd place/lib/ld.so");
  EXPECT_EQ(beside("/bin/lockstep", "/lib/ld.so"), "/lib/ld.so");
  EXPECT_EQ(beside("/a/b/c", ""), "/a");
}

TEST(BundleStart, APathThatIsTooLongOrHasNoDirectoryAboveIsRefused) {
  EXPECT_EQ(beside("/lockstep", "/lib/ld.so"), "does not fit");
  EXPECT_EQ(beside("lockstep", "/lib/ld.so"), "does not fit");
  EXPECT_EQ(beside("/a/bin/lockstep", "/lib", 7), "/a/lib");
  EXPECT_EQ(beside("/a/bin/lockstep", "/lib", 6), "does not fit");
}

TEST(BundleStart, TheAuxiliaryVectorStandsBehindArgumentsAndEnvironment) {
  const char* const argument = "program";
  const char* const variable = "A=b";
  std::vector<std::uintptr_t> stack{1, reinterpret_cast<std::uintptr_t>(argument), 0,
                                    reinterpret_cast<std::uintptr_t>(variable), 0};
  stack.insert(stack.end(), {AT_PHNUM, 12, AT_ENTRY, 77, AT_NULL, 0});
  const Auxiliary auxiliary = auxiliary_of(stack.data());
  ASSERT_NE(auxiliary.find(AT_ENTRY), nullptr);
  EXPECT_EQ(auxiliary.find(AT_ENTRY)->a_un.a_val, 77U);
  EXPECT_EQ(auxiliary.find(AT_BASE), nullptr);
  auxiliary.find(AT_PHNUM)->a_un.a_val = 14;
  EXPECT_EQ(stack[6], 14U);
}

}  // namespace
}  // namespace lockstep::bundle
