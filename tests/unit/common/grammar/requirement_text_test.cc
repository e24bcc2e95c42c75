// The grammar of one requirement: what is valid is taken, what is not is refused with its place.

#include "common/grammar/requirement_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace lockstep::spec {
namespace {

const std::string kSha256(64, 'a');

TEST(RequirementText, WhatIsValidIsTaken) {
  for (const std::string& text : {
           // PEP 508, its examples and its appendix
           std::string("A"),
           std::string("A.B-C_D"),
           std::string("aa"),
           std::string("name"),
           std::string("name<=1"),
           std::string("name>=3"),
           std::string("name>=3,<2"),
           std::string("name@http://foo.com"),
           std::string("name [fred,bar] @ http://foo.com ; python_version=='2.7'"),
           std::string("name[quux, strange];python_version<'2.7' and platform_version=='2'"),
           std::string("name; os_name=='a' or os_name=='b'"),
           std::string("name; os_name=='a' and os_name=='b' or os_name=='c'"),
           std::string("name; os_name=='a' and (os_name=='b' or os_name=='c')"),
           std::string("name; (os_name=='a' or os_name=='b') and os_name=='c'"),
           std::string("requests [security,tests] >= 2.8.1, == 2.8.* ; python_version < \"2.7\""),
           std::string("pip @ https://github.com/pypa/pip/archive/1.3.1.zip#sha1=da9234ee99"),
           std::string("argparse;python_version<\"2.7\""),
           // more of markers
           std::string("x; '2.7' == python_version"),
           std::string("x; 'linux' in sys_platform"),
           std::string("x; python_version not  in '3.0 3.1'"),
           std::string("x ; ((python_version >= '3' ) )and(os.name=='posix')"),
           std::string("x; sys.platform != 'win32' and platform.machine != 'arm'"),
           std::string("x; platform_python_implementation != \"PyPy\""),
           std::string("x; implementation_version === '3' or python_full_version ~= '3.8.1'"),
           std::string("x; extra == 'dev;(and) #'"),
           std::string("x; python_implementation<='it\"s'"),
           // PEP 440
           std::string("x == 1.*"),
           std::string("x!=1.0.*,>=1.0a1.dev0"),
           std::string("x==1!2.0"),
           std::string("x===any,thing-at~all"),
           std::string("x ( >=1 , <2 )"),
           std::string("x()"),
           std::string("x[]"),
           std::string("x[ a ]"),
           std::string("x(===1.0)"),
           std::string("x>=1,"),
           std::string("x==1.0+ubuntu.1-x_2"),
           std::string("x==v1.0"),
           std::string("x~=1.4.5a4"),
           std::string("x>1.0.post1,<2rc1"),
           std::string("x==1.0-1"),
           std::string("x==1.0_BETA-2.rev3.dev"),
           std::string("x==1.0c.post"),
           std::string("x<1.1a1,!=1.0a1.*"),
           // lines of real files
           std::string("torch==2.5.1+cu124"),
           std::string("opencv-python-headless<4.11.0.86,>=4.5"),
           std::string("pytz==2024a"),
           std::string("zope.interface>=5"),
           std::string("uvicorn[standard]~=0.30.0"),
           std::string(
               "ruamel.yaml.clib==0.2.8 ; platform_python_implementation == \"CPython\" and "
               "python_version < \"3.13\""),
           std::string("backports.zoneinfo==0.2.1;python_version<\"3.9\""),
           std::string("tzdata ; sys_platform == 'win32' or sys_platform == 'emscripten'"),
           std::string("https://download.pytorch.org/whl/cu118/torch-2.0.0%2Bcu118-cp311-cp311-"
                       "linux_x86_64.whl"),
           std::string("https://h/x.whl ; python_version < '3.12'"),
           std::string("https://h/x.whl; python_version < '3.12'"),
           std::string("x @ https://h/x.whl?a=1;b=2#egg=x&subdirectory=y"),
           std::string("x[a] @ https://h/x.whl; python_version < '3.12'"),
           "six==1.16.0 --hash=sha256:" + kSha256 + "     --hash=sha384:" + kSha256 +
               std::string(32, '0'),
           "six==1.16.0 ; python_version >= '3' --hash sha256:" + kSha256,
           "six @ https://h/six.whl --hash='sha512:" + kSha256 + kSha256 + "'",
           std::string("x==1 --config-settings \"--build-option=--fast -x\" --global-option=--y"),
       }) {
    const auto fault = fault_of_requirement(text);
    EXPECT_FALSE(fault) << text << "\n" << fault->at << ": " << fault->message;
  }
}

struct BadRequirement {
  std::string text;
  std::size_t at;
  std::string message;
};
void PrintTo(const BadRequirement& bad, std::ostream* out) { *out << bad.text; }

class BadRequirementText : public testing::TestWithParam<BadRequirement> {};

TEST_P(BadRequirementText, IsRefusedWithItsPlace) {
  const BadRequirement& bad = GetParam();
  const auto fault = fault_of_requirement(bad.text);
  ASSERT_TRUE(fault) << "was taken";
  EXPECT_EQ(fault->message, bad.message);
  EXPECT_EQ(fault->at, bad.at);
}

constexpr const char* kValueExpected =
    "expected a name such as python_version or a value in quotes, found ";
constexpr const char* kOperatorExpected =
    "expected an operator (== != >= <= > < ~= in 'not in'), found ";
constexpr const char* kRestExpected = "expected a version, ';' or the end of the line, found ";

INSTANTIATE_TEST_SUITE_P(
    All, BadRequirementText,
    testing::ValuesIn(std::vector<BadRequirement>{
        {"[six]", 0, "names no package; write NAME, or NAME==VERSION"},
        {">=1", 0, "names no package; write NAME, or NAME==VERSION"},
        {"_six", 0, "names no package; write NAME, or NAME==VERSION"},
        {"six-", 3, fmt::format("{}'-'", kRestExpected)},
        {"six=1.16", 3, "'=' is not an operator; write =="},
        {"six =>1", 4, "'=>' is not an operator; write >="},
        {"six=<1", 3, "'=<' is not an operator; write <="},
        {"six<>1", 3, "'<>' is not an operator; write !="},
        {"six~>1.2", 3, "'~>' is not an operator; write ~="},
        {"six!1", 3, "'!' is not an operator; write !="},
        {"six====1", 3, "'====' is not an operator; the operators are == != >= <= > < ~= ==="},
        {"six==", 3, "no version follows '=='"},
        {"six===", 3, "no version follows '==='"},
        {"six>=1,<", 7, "no version follows '<'"},
        {"six>=1,,<2", 7, fmt::format("{}',<2'", kRestExpected)},
        {"six>=1 <2", 7, fmt::format("{}'<2'", kRestExpected)},
        {"six==1.x", 5, "'1.x' is not a version; write, for example, 1.26 or >=1.22,<2"},
        {"six==latest", 5, "'latest' is not a version; write, for example, 1.26 or >=1.22,<2"},
        {"six==1..2", 5, "'1..2' is not a version; write, for example, 1.26 or >=1.22,<2"},
        {"six==1.0+", 5, "'1.0+' is not a version; write, for example, 1.26 or >=1.22,<2"},
        {"six==1.0.*.1", 5, "'1.0.*.1' is not a version; write, for example, 1.26 or >=1.22,<2"},
        {"six==*", 5, "'*' is not a version; write, for example, 1.26 or >=1.22,<2"},
        {"six>=1.*", 5, "'>=1.*': '.*' is allowed only after == and !=; write >=1"},
        {"torch>=2.0+cu118", 7,
         "'>=2.0+cu118': a local version ('+…') is allowed only after == and !=; write >=2.0"},
        {"six~=1", 5, "'~=1' needs at least two numbers; write ~=1.0, or >=1"},
        {"six (>=1", 4, "'(' is never closed"},
        {"six (>=1; os_name=='a'", 8, "expected ',' or ')', found '; os_name=='a''"},
        {"six 1.16", 4, "'1.16' has no operator before it; write six==1.16"},
        {"six numpy", 4, fmt::format("{}'numpy'", kRestExpected)},
        {"six@1.16", 4, "'1.16' is not an address; write six @ https://…, or six==VERSION"},
        {"six @", 5, "no address follows '@'"},
        {"six @ https://h/six.whl python_version>'3'", 24,
         "only ' ;' and a marker may follow an address, found 'python_version>'3''"},
        {"six[", 3, "'[' is never closed"},
        {"six[a", 3, "'[' is never closed"},
        {"six[a,]", 6, "']' is not the name of an extra; write [a,b]"},
        {"six[a b]", 6, "expected ',' or ']', found 'b]'"},
        {"six[-a]", 4, "'-a]' is not the name of an extra; write [a,b]"},
        {"six;", 4, fmt::format("{}the end of the marker", kValueExpected)},
        {"six; python_version <", 21, fmt::format("{}the end of the marker", kValueExpected)},
        {"six; python_version", 19, fmt::format("{}the end of the marker", kOperatorExpected)},
        {"six; python_version 3", 20, fmt::format("{}'3'", kOperatorExpected)},
        {"six; python_version < 3.8", 22, "'3.8' is a value and needs quotes: \"3.8\""},
        {"six; python_version = '3.8'", 20, "'=' is not an operator; write =="},
        {"six; python_version is '3.8'", 20, fmt::format("{}'is '3.8''", kOperatorExpected)},
        {"six; python_version not '3'", 20, "'not' is not an operator; write 'not in'"},
        {"six; pyton_version < '3'", 5,
         "'pyton_version' is not a marker variable; did you mean 'python_version'?"},
        {"six; python_version < '3.8", 22, "a quote is never closed"},
        {"six; (os_name == 'a'", 5, "'(' is never closed"},
        {"six; os_name == 'a')", 19, "expected 'and', 'or' or the end of the marker, found ')'"},
        {"six; os_name == 'a' and", 23, fmt::format("{}the end of the marker", kValueExpected)},
        {"six; os_name == 'a' && os_name == 'b'", 20,
         "expected 'and', 'or' or the end of the marker, found '&& os_name == 'b''"},
        {"six --hash=sha256:zz", 4,
         "'zz' is not a valid sha256: exactly 64 hexadecimal digits are expected"},
        {"six --hash=sha256:" + kSha256 + "0", 4,
         "'" + kSha256 + "0' is not a valid sha256: exactly 64 hexadecimal digits are expected"},
        {"six --hash=md5:" + std::string(32, 'a'), 4,
         "'md5:" + std::string(32, 'a') +
             "' is not a hash; write --hash=sha256:HEX (or sha384, sha512)"},
        {"six --hash=" + kSha256, 4,
         "'" + kSha256 + "' is not a hash; write --hash=sha256:HEX (or sha384, sha512)"},
        {"six --hash", 4, "--hash needs a value"},
        {"six --hash=", 4, "--hash needs a value"},
        {"six --user", 4,
         "'--user' is not allowed after a requirement, only --hash, --config-settings and "
         "--global-option are; write other options on lines of their own"},
    }));

// As deep as a line may be.
TEST(RequirementText, ParenthesesAreNoStack) {
  const std::string open(30'000, '('), closed(30'000, ')');
  EXPECT_FALSE(fault_of_requirement("x; " + open + "os_name=='a'" + closed));
  EXPECT_TRUE(fault_of_requirement("x; " + open + "os_name=='a'"));
}

}  // namespace
}  // namespace lockstep::spec
