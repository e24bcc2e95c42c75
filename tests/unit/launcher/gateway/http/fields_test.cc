// What single fields say: Host, Range, ETag, Cookie, Authorization, and from which site they come.

#include <gtest/gtest.h>

#include "launcher/gateway/http/message/byte_range.h"
#include "launcher/gateway/http/message/cookie.h"
#include "launcher/gateway/http/message/host.h"
#include "launcher/gateway/http/message/precondition.h"
#include "launcher/gateway/http/site/credential.h"

namespace lockstep::http {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

Request request_with(const Fields& fields, Method method = Method::get) {
  Request request;
  request.method = method;
  request.host = "localhost:8080";
  for (const auto& [name, value] : fields) request.headers.add(name, value);
  return request;
}

TEST(Host, OnlyKnownNamesAreServed) {
  const HostPolicy policy({"localhost", "127.0.0.1", "[::1]", "Lockstep.Example.org"});
  for (const char* host : {"localhost", "LOCALHOST", "localhost:80", "localhost:65535",
                           "127.0.0.1:1", "[::1]", "[::1]:8080", "lockstep.example.org:443"})
    EXPECT_TRUE(policy.serves(host)) << host;
  for (const char* host : {"",
                           ":",
                           ":80",
                           "evil.org",
                           "localhost.evil.org",
                           "evil.org:80",
                           "localhost:",
                           "localhost:x",
                           "localhost:123456",
                           "localhost:-1",
                           "localhost:80:80",
                           "localhost.",
                           "x.localhost",
                           "localhost/",
                           "localhost@evil.org",
                           "evil.org@localhost",
                           "localhost evil.org",
                           "localhost,evil.org",
                           "::1",
                           "[::1",
                           "::1]",
                           "[::1]x",
                           "[::1]80",
                           "[]",
                           "[evil]",
                           "127.1",
                           "127.0.0.2",
                           "0x7f000001",
                           "2130706433",
                           "0.0.0.0",
                           "[::]",
                           "[::ffff:127.0.0.1]",
                           "localhost%00",
                           "http://localhost"})
    EXPECT_FALSE(policy.serves(host)) << host;
}

TEST(Host, AnOriginIsThatOfTheHost) {
  EXPECT_TRUE(is_same_origin("http://localhost:80", "localhost:80", false));
  EXPECT_TRUE(is_same_origin("https://localhost:80", "LOCALHOST:80", false))
      << "a proxy has the TLS";
  EXPECT_TRUE(is_same_origin("https://a", "a", true));
  EXPECT_FALSE(is_same_origin("http://a", "a", true));
  for (const char* origin :
       {"", "null", "a", "https://", "https://b", "https://a.b", "https://a:443", "https://a/",
        "ftp://a", "https://b https://a", "https://a@a"})
    EXPECT_FALSE(is_same_origin(origin, "a", false)) << origin;
  EXPECT_FALSE(is_same_origin("https://", "", false));
}

RangeChoice range_of(const std::string& range, std::uint64_t size = 10) {
  return choose_range(request_with({{"range", range}}), size, "\"v1\"");
}

TEST(ByteRange, OneRangeIsTaken) {
  EXPECT_EQ(range_of("bytes=0-3"), RangeChoice(BodyPart{0, 3}));
  EXPECT_EQ(range_of("Bytes=2-2"), RangeChoice(BodyPart{2, 2}));
  EXPECT_EQ(range_of("bytes=4-"), RangeChoice(BodyPart{4, 9}));
  EXPECT_EQ(range_of("bytes=-3"), RangeChoice(BodyPart{7, 9}));
  EXPECT_EQ(range_of("bytes=-30"), RangeChoice(BodyPart{0, 9}));
  EXPECT_EQ(range_of("bytes=0-99"), RangeChoice(BodyPart{0, 9}));
  EXPECT_EQ(range_of("bytes= 1-2 "), RangeChoice(BodyPart{1, 2}));
  EXPECT_EQ(content_range({0, 3}, 10), "bytes 0-3/10");
  EXPECT_EQ(unsatisfied_range(10), "bytes */10");
}

TEST(ByteRange, BehindTheEndIsNothing) {
  for (const char* range : {"bytes=10-", "bytes=10-20", "bytes=-0", "bytes=18446744073709551615-"})
    EXPECT_EQ(range_of(range), RangeChoice(NoSuchPart{})) << range;
  EXPECT_EQ(range_of("bytes=0-0", 0), RangeChoice(NoSuchPart{}));
  EXPECT_EQ(range_of("bytes=-1", 0), RangeChoice(NoSuchPart{}));
}

TEST(ByteRange, OtherwiseItIsTheWhole) {
  for (const char* range :
       {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=3-2", "bytes=0-1,3-4", "lines=0-1",
        "bytes 0-1", "bytes=0--1", "bytes=+1-2", "bytes=0x1-2", "bytes=1", "bytes=0-1-2",
        "bytes=0-99999999999999999999", "bytes=99999999999999999999-"})
    EXPECT_EQ(range_of(range), RangeChoice(WholeBody{})) << range;
  EXPECT_EQ(choose_range(request_with({}), 10, ""), RangeChoice(WholeBody{}));
  EXPECT_EQ(choose_range(request_with({{"range", "bytes=0-1"}}, Method::put), 10, ""),
            RangeChoice(WholeBody{}));
}

TEST(ByteRange, OfAnotherVersionItIsTheWhole) {
  const auto choose = [](const std::string& condition, std::string_view etag) {
    return choose_range(request_with({{"range", "bytes=0-1"}, {"if-range", condition}}), 10, etag);
  };
  EXPECT_EQ(choose("\"v1\"", "\"v1\""), RangeChoice(BodyPart{0, 1}));
  EXPECT_EQ(choose("\"v0\"", "\"v1\""), RangeChoice(WholeBody{}));
  EXPECT_EQ(choose("W/\"v1\"", "\"v1\""), RangeChoice(WholeBody{}));
  EXPECT_EQ(choose("Sun, 06 Nov 1994 08:49:37 GMT", "\"v1\""), RangeChoice(WholeBody{}));
  EXPECT_EQ(choose("", ""), RangeChoice(WholeBody{}));
}

TEST(PreconditionTest, ReadersThatHaveItGetNoBody) {
  const auto judge = [](const std::string& tags, Method method = Method::get) {
    return judge_precondition(request_with({{"if-none-match", tags}}, method), "\"v1\"");
  };
  for (const char* tags : {"\"v1\"", "*", "W/\"v1\"", "\"v0\", \"v1\"", "\"v0\",W/\"v1\" , \"v2\""})
    EXPECT_EQ(judge(tags), Precondition::not_modified) << tags;
  for (const char* tags : {"", "\"v0\"", "v1", "\"v1", "\"v0\" \"v1\"", "\"v0\", v1", "w/\"v1\""})
    EXPECT_EQ(judge(tags), Precondition::proceed) << tags;
  EXPECT_EQ(judge("*", Method::put), Precondition::failed);
}

TEST(PreconditionTest, WritersOfAnOlderVersionAreRefused) {
  const auto judge = [](const std::string& tags, std::string_view etag) {
    return judge_precondition(request_with({{"if-match", tags}}, Method::put), etag);
  };
  EXPECT_EQ(judge("\"v1\"", "\"v1\""), Precondition::proceed);
  EXPECT_EQ(judge("*", "\"v1\""), Precondition::proceed);
  EXPECT_EQ(judge("\"v0\"", "\"v1\""), Precondition::failed);
  EXPECT_EQ(judge("W/\"v1\"", "\"v1\""), Precondition::failed);
  EXPECT_EQ(judge("*", ""), Precondition::failed) << "it is not there";
  EXPECT_EQ(judge_precondition(request_with({}, Method::put), "\"v1\""), Precondition::proceed);
}

TEST(Cookie, IsFoundByItsWholeName) {
  const auto find = [](const std::string& text) {
    Headers headers;
    headers.add("Cookie", text);
    return find_cookie(headers, "lockstep");
  };
  EXPECT_EQ(find("lockstep=abc").value(), "abc");
  EXPECT_EQ(find("a=b; lockstep=abc ;c=d").value(), "abc");
  EXPECT_EQ(find("lockstep=a=b").value(), "a=b");
  EXPECT_EQ(find("lockstep=").value(), "");
  for (const char* text : {"", ";;;", "lockstep", "Lockstep=a", "xlockstep=a", "lockstepx=a",
                           "a=lockstep=b", "__Host-lockstep=a"})
    EXPECT_EQ(find(text).value(), std::nullopt) << text;
  EXPECT_FALSE(find("lockstep=a; lockstep=a")) << "one may be somebody else's";
}

TEST(Cookie, IsKeptFromScriptsAndOtherSites) {
  EXPECT_EQ(set_session_cookie("abc", minutes(1), true),
            "__Host-lockstep=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure");
  EXPECT_EQ(set_session_cookie("", Duration::zero(), false),
            "lockstep=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
}

Credential credential(const Fields& fields, bool is_tls = false) {
  auto found = credential_of(request_with(fields), is_tls);
  EXPECT_TRUE(std::holds_alternative<Credential>(found));
  return std::get<Credential>(found);
}

TEST(CredentialTest, IsAToken) {
  const Credential expected{Credential::Kind::bearer, "abc-._~+/="};
  EXPECT_EQ(credential({{"authorization", "Bearer abc-._~+/="}}), expected);
  EXPECT_EQ(credential({{"authorization", "bearer  abc-._~+/="}}), expected);
  EXPECT_EQ(credential({{"authorization", "Bearer abc-._~+/="}, {"cookie", "lockstep=x"}}),
            expected);
}

TEST(CredentialTest, IsACookie) {
  EXPECT_EQ(credential({{"cookie", "lockstep=abc"}}),
            (Credential{Credential::Kind::cookie, "abc"}));
  EXPECT_EQ(credential({{"cookie", "lockstep=abc"}}, true), Credential{}) << "not set over TLS";
  EXPECT_EQ(credential({{"cookie", "__Host-lockstep=abc"}}, true),
            (Credential{Credential::Kind::cookie, "abc"}));
  EXPECT_EQ(credential({}), Credential{});
}

TEST(CredentialTest, IsRefusedInAnotherForm) {
  for (const std::string& text :
       {std::string("Bearer"), std::string("Bearer "), std::string("Bearer a b"), std::string("a"),
        std::string("Basic YTpi"), std::string("Bearer \"a\""), std::string("Bearer ="),
        std::string(), "Bearer " + std::string(5'000, 'a'), std::string("Bearer\ta"),
        std::string("Bearer a,b")}) {
    const auto found = credential_of(request_with({{"authorization", text}}), false);
    const auto* problem = std::get_if<Problem>(&found);
    ASSERT_NE(problem, nullptr) << text;
    EXPECT_EQ(problem->status, 401);
    EXPECT_EQ(problem->headers.get("www-authenticate"), "Bearer");
    EXPECT_EQ(problem->detail.find("YTpi"), std::string::npos) << "it is quoted nowhere";
  }
  for (const char* text : {"lockstep=a b", "lockstep=", "lockstep=a; lockstep=b", "lockstep=\"a\""})
    EXPECT_TRUE(
        std::holds_alternative<Problem>(credential_of(request_with({{"cookie", text}}), false)))
        << text;
}

// How a request of a browser with our cookie is judged: 0 if it is let through.
int status_from(Fields fields, Method method = Method::get) {
  const Credential credential{Credential::Kind::cookie, "secret"};
  const auto problem = why_cross_site(request_with(fields, method), credential, false);
  return problem ? problem->status : 0;
}

TEST(CrossSite, OurOwnPagesRead) {
  EXPECT_EQ(status_from({}), 0);
  EXPECT_EQ(status_from({{"sec-fetch-site", "same-origin"}}), 0);
  EXPECT_EQ(status_from({{"sec-fetch-site", "none"}}), 0) << "typed into the address bar";
  EXPECT_EQ(status_from({{"origin", "http://localhost:8080"}}), 0);
  EXPECT_EQ(status_from({{"sec-fetch-site", "cross-site"},
                         {"sec-fetch-mode", "navigate"},
                         {"sec-fetch-dest", "document"}}),
            0)
      << "a link to one of our pages";
}

TEST(CrossSite, OtherPagesDoNot) {
  for (const char* site : {"cross-site", "same-site", "x", "Same-Origin"})
    EXPECT_EQ(status_from({{"sec-fetch-site", site}}), 403) << site;
  for (const char* origin :
       {"null", "http://evil.org", "http://localhost", "http://x.localhost:8080", ""})
    EXPECT_EQ(status_from({{"origin", origin}}), 403) << origin;
  EXPECT_EQ(status_from({{"sec-fetch-site", "cross-site"},
                         {"sec-fetch-mode", "navigate"},
                         {"sec-fetch-dest", "iframe"}}),
            403);
  EXPECT_EQ(status_from({{"sec-fetch-site", "cross-site"},
                         {"sec-fetch-mode", "navigate"},
                         {"sec-fetch-dest", "document"}},
                        Method::post),
            403)
      << "a form of another page";
}

TEST(CrossSite, WhoChangesSomethingShowsThatItReadOurPage) {
  const std::string token = csrf_token("secret");
  for (const Method method : {Method::post, Method::put, Method::patch, Method::remove}) {
    EXPECT_EQ(status_from({{"x-lockstep-csrf", token}}, method), 0);
    EXPECT_EQ(status_from({{"x-lockstep-csrf", token}, {"sec-fetch-site", "same-site"}}, method),
              403);
    EXPECT_EQ(status_from({{"x-lockstep-csrf", token}, {"origin", "null"}}, method), 403);
    EXPECT_EQ(status_from({{"x-lockstep-csrf", token}, {"sec-fetch-site", "none"}}, method), 403);
    EXPECT_EQ(status_from({{"sec-fetch-site", "same-origin"}}, method), 403);
    EXPECT_EQ(status_from({{"x-lockstep-csrf", csrf_token("other")}}, method), 403);
    EXPECT_EQ(status_from({{"x-lockstep-csrf", token.substr(1)}}, method), 403);
    EXPECT_EQ(status_from({{"x-lockstep-csrf", ""}}, method), 403);
  }
  EXPECT_EQ(token.find("secret"), std::string::npos);
}

TEST(CrossSite, ALoginIsOurOwnPagesToo) {
  const auto status = [](const Fields& fields) {
    const auto problem = why_cross_site(request_with(fields, Method::post), Credential{}, false);
    return problem ? problem->status : 0;
  };
  EXPECT_EQ(status({}), 0);
  EXPECT_EQ(status({{"origin", "http://localhost:8080"}, {"sec-fetch-site", "same-origin"}}), 0);
  EXPECT_EQ(status({{"origin", "http://evil.org"}}), 403);
  EXPECT_EQ(status({{"sec-fetch-site", "cross-site"}}), 403);
}

TEST(CrossSite, AProgramsTokenNeedsNoneOfThat) {
  const Credential credential{Credential::Kind::bearer, "abc"};
  EXPECT_EQ(why_cross_site(request_with({{"origin", "http://a"}}, Method::post), credential, false),
            std::nullopt);
}

}  // namespace
}  // namespace lockstep::http
