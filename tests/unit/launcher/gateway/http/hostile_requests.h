#pragma once
// Requests that somebody sends who wants two programs to read them differently, or us to read too
// much: each with the status that refuses it. Behind each stands a request for /hidden, which must
// never be seen. Also the fuzzer's seeds.

#include <string>
#include <vector>

namespace lockstep::http::test {

struct HostileRequest {
  std::string name;
  std::string bytes;  // without the request behind it
  int status;
};

inline const std::string kHidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";

inline std::string get(const std::string& fields) {
  return "GET / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
}
inline std::string post(const std::string& fields, const std::string& body) {
  return "POST / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n" + body;
}
inline std::string chunks(const std::string& body) {
  return post("Transfer-Encoding: chunked\r\n", body);
}
inline std::string line(const std::string& request_line) {
  return request_line + "\r\nHost: a\r\n\r\n";
}
inline std::string many_fields(int count, std::size_t size) {
  std::string fields;
  for (int i = 0; i < count; ++i)
    fields += "f" + std::to_string(i) + ": " + std::string(size, 'x') + "\r\n";
  return fields;
}

inline std::vector<HostileRequest> hostile_line_endings() {
  return {
      {"LF behind the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", 400},
      {"LF behind a field", "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400},
      {"LF at the end of the head", "GET / HTTP/1.1\r\nHost: a\r\n\n", 400},
      {"LF alone everywhere", "GET / HTTP/1.1\nHost: a\n\n", 400},
      {"LF CR as a line's end", "GET / HTTP/1.1\n\rHost: a\n\r\n\r", 400},
      {"CR in the request line", "GET /\rX HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"CR in a value", get("X: a\rY: b\r\n"), 400},
      {"two CRs before LF", get("X: a\r\r\n"), 400},
      {"CR at the beginning of a line", get("\rX: a\r\n"), 400},
      {"an empty line first", "\r\n" + get(""), 400},
      {"LF first", "\n" + get(""), 400},
      {"a blank first", " " + get(""), 400},
      {"a tab first", "\t" + get(""), 400},
      {"NUL first", std::string("\0", 1) + get(""), 400},
  };
}

inline std::vector<HostileRequest> hostile_request_lines() {
  return {
      {"no method", line("/ HTTP/1.1"), 400},
      {"a small method", line("get / HTTP/1.1"), 501},
      {"an unknown method", line("BREW / HTTP/1.1"), 501},
      {"CONNECT", line("CONNECT /x HTTP/1.1"), 501},
      {"CONNECT to a host", line("CONNECT a:80 HTTP/1.1"), 501},
      {"TRACE", line("TRACE / HTTP/1.1"), 501},
      {"a parenthesis in the method", line("G(T / HTTP/1.1"), 400},
      {"a colon in the method", line("GET: / HTTP/1.1"), 400},
      {"a method of 9,000 bytes", line(std::string(9'000, 'G') + " / HTTP/1.1"), 414},
      {"two blanks before the target", line("GET  / HTTP/1.1"), 400},
      {"two blanks behind the target", line("GET /  HTTP/1.1"), 400},
      {"a tab before the target", line("GET\t/ HTTP/1.1"), 400},
      {"a tab behind the target", line("GET /\tHTTP/1.1"), 400},
      {"a blank in the target", line("GET /a b HTTP/1.1"), 400},
      {"no version", line("GET /"), 400},
      {"no version, and a blank", line("GET / "), 400},
      {"HTTP/0.9", line("GET / HTTP/0.9"), 505},
      {"HTTP/1.2", line("GET / HTTP/1.2"), 505},
      {"HTTP/2.0", line("GET / HTTP/2.0"), 505},
      {"HTTP/3.0", line("GET / HTTP/3.0"), 505},
      {"a small http", line("GET / http/1.1"), 400},
      {"a blank behind the version", line("GET / HTTP/1.1 "), 400},
      {"HTTP/1.10", line("GET / HTTP/1.10"), 400},
      {"HTTP/11", line("GET / HTTP/11"), 400},
      {"HTTP/1,1", line("GET / HTTP/1,1"), 400},
      {"HTTP/1.x", line("GET / HTTP/1.x"), 400},
      {"HTTP /1.1", line("GET / HTTP /1.1"), 400},
      {"an absolute target", line("GET http://b/ HTTP/1.1"), 400},
      {"a target of another scheme", line("GET file:///etc/passwd HTTP/1.1"), 400},
      {"a host as the target", line("GET a:80 HTTP/1.1"), 400},
      {"a target without a slash", line("GET jobs HTTP/1.1"), 400},
      {"an asterisk as the target", line("OPTIONS * HTTP/1.1"), 400},
      {"a byte that is not ASCII", line("GET /\xc3\xa4 HTTP/1.1"), 400},
      {"DEL in the target", line("GET /\x7f HTTP/1.1"), 400},
      {"NUL in the target", line(std::string("GET /\0 HTTP/1.1", 15)), 400},
      {"ESC in the target", line("GET /\x1b[31m HTTP/1.1"), 400},
      {"a target of 9,000 bytes", line("GET /" + std::string(9'000, 'a') + " HTTP/1.1"), 414},
      {"a target of 8,200 bytes", line("GET /" + std::string(8'199, 'a') + " HTTP/1.1"), 414},
      {"a line without an end", "GET /" + std::string(20'000, 'a'), 414},
      {"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"a TLS hello", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11), 400},
      {"SSH", "SSH-2.0-OpenSSH_9.2\r\n", 400},
      {"SMTP", "EHLO a\r\nMAIL FROM:<b>\r\n\r\n", 400},
      {"a ZeroMQ greeting", std::string("\xff\0\0\0\0\0\0\0\x01\x7f", 10), 400},
  };
}

inline std::vector<HostileRequest> hostile_fields() {
  return {
      {"no Host", "GET / HTTP/1.1\r\nX: a\r\n\r\n", 400},
      {"no field at all", "GET / HTTP/1.1\r\n\r\n", 400},
      {"no Host in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", 400},
      {"an empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", 400},
      {"a Host of blanks", "GET / HTTP/1.1\r\nHost:  \t \r\n\r\n", 400},
      {"two hosts", get("Host: b\r\n"), 400},
      {"the same host twice", get("Host: a\r\n"), 400},
      {"two hosts in two cases", get("hOST: b\r\n"), 400},
      {"a blank before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
      {"a tab before the colon", "GET / HTTP/1.1\r\nHost\t: a\r\n\r\n", 400},
      {"no colon", get("X\r\n"), 400},
      {"no name", get(": a\r\n"), 400},
      {"only a colon", get(":\r\n"), 400},
      {"a blank in a name", get("X Y: a\r\n"), 400},
      {"a byte that is not ASCII in a name", get("X\xc3\xa4: a\r\n"), 400},
      {"a parenthesis in a name", get("X(y): a\r\n"), 400},
      {"a quote in a name", get("X\"y: a\r\n"), 400},
      {"NUL in a name", get(std::string("X\0: a\r\n", 7)), 400},
      {"a field that is folded with a blank", get("X: a\r\n b\r\n"), 400},
      {"a field that is folded with a tab", get("X: a\r\n\tb\r\n"), 400},
      {"a first field that is folded", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400},
      {"a fold of blanks alone", get("X: a\r\n \r\n"), 400},
      {"a folded length", post("Content-Length:\r\n 5\r\n", "hello"), 400},
      {"a folded coding", post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"), 400},
      {"NUL in a value", get(std::string("X: a\0b\r\n", 8)), 400},
      {"NUL as a value", get(std::string("X: \0\r\n", 6)), 400},
      {"DEL in a value", get("X: a\x7f\r\n"), 400},
      {"BEL in a value", get("X: a\a\r\n"), 400},
      {"ESC in a value", get("X: \x1b[2J\r\n"), 400},
      {"a vertical tab in a value", get("X: a\vb\r\n"), 400},
      {"too many fields", get(many_fields(110, 1)), 431},
      {"one field of 20,000 bytes", get(many_fields(1, 20'000)), 431},
      {"90 fields of 200 bytes", get(many_fields(90, 200)), 431},
      {"a field without an end", "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(20'000, 'x'),
       431},
      {"a name without an end", "GET / HTTP/1.1\r\nHost: a\r\n" + std::string(20'000, 'x'), 431},
      {"two Authorizations", get("Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"), 400},
      {"two Cookies", get("Cookie: lockstep=a\r\nCookie: lockstep=b\r\n"), 400},
      {"two Content-Types", get("Content-Type: a/b\r\nContent-Type: c/d\r\n"), 400},
      {"two Origins", get("Origin: http://a\r\nOrigin: http://b\r\n"), 400},
      {"two Ranges", get("Range: bytes=0-1\r\nRange: bytes=2-3\r\n"), 400},
      {"two CSRF fields", get("X-Lockstep-Csrf: a\r\nX-Lockstep-Csrf: b\r\n"), 400},
      {"a Connection that is no list", get("Connection: \"close\r\n"), 400},
      {"another expectation", post("Expect: 200-ok\r\nContent-Length: 1\r\n", "a"), 417},
      {"two expectations", post("Expect: 100-continue, x\r\nContent-Length: 1\r\n", "a"), 417},
      {"a body in gzip", post("Content-Encoding: gzip\r\nContent-Length: 1\r\n", "a"), 415},
      {"a body in br", post("Content-Encoding: br\r\nContent-Length: 1\r\n", "a"), 415},
      {"a body in two codings",
       post("Content-Encoding: identity, gzip\r\nContent-Length: 1\r\n", "a"), 415},
  };
}

inline std::vector<HostileRequest> hostile_framing() {
  const std::string chunked = "Transfer-Encoding: chunked\r\n", end = "0\r\n\r\n";
  std::vector<HostileRequest> all = {
      {"length and coding", post("Content-Length: 5\r\n" + chunked, end), 400},
      {"coding and length", post(chunked + "Content-Length: 5\r\n", end), 400},
      {"coding and a length of 0", post(chunked + "Content-Length: 0\r\n", end), 400},
      {"two equal lengths", post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"), 400},
      {"two lengths", post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello"), 400},
      {"two lengths in two cases", post("Content-Length: 0\r\ncontent-length: 38\r\n", ""), 400},
      {"a blank before the colon of a length", post("Content-Length : 5\r\n", "hello"), 400},
      {"a blank before the colon of a coding", post("Transfer-Encoding : chunked\r\n", end), 400},
      {"two codings", post(chunked + chunked, end), 400},
      {"two codings, the second chunked", post("Transfer-Encoding: gzip\r\n" + chunked, end), 400},
      {"two codings, the first chunked", post(chunked + "Transfer-Encoding: gzip\r\n", end), 400},
      {"a coding in HTTP/1.0",
       "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"a coding with a vertical tab", post("Transfer-Encoding: \vchunked\r\n", end), 400},
      {"a coding with NUL", post(std::string("Transfer-Encoding: chunked\0\r\n", 29), end), 400},
  };
  for (const char* coding :
       {"gzip", "gzip, chunked", "chunked, gzip", "identity", "xchunked", "chunked, chunked",
        "chunked;q=1", "\"chunked\"", "chunked,", ",chunked", "chunked chunked", ""})
    all.push_back({std::string("the coding ") + coding,
                   post(std::string("Transfer-Encoding: ") + coding + "\r\n", end), 501});
  for (const char* length :
       {"5, 5", "5,6", ",5", "5,", "+5", "-5", "0x5", "5 5", "", "5.0", "5e1",
        "99999999999999999999", "18446744073709551616", "\xd9\xa5", "5;", "five", "\"5\""})
    all.push_back({std::string("the length ") + length,
                   post(std::string("Content-Length: ") + length + "\r\n", "hello"), 400});
  return all;
}

inline std::vector<HostileRequest> hostile_chunks() {
  std::vector<HostileRequest> all = {
      {"a chunk that is longer than it says", chunks("5\r\nhelloX\r\n0\r\n\r\n"), 400},
      {"a chunk without CR LF", chunks("5\r\nhello0\r\n\r\n"), 400},
      {"a chunk that ends with LF", chunks("5\r\nhello\n0\r\n\r\n"), 400},
      {"a chunk that ends with CR", chunks("5\r\nhello\r0\r\n\r\n"), 400},
      {"a chunk that ends with two LFs", chunks("5\r\nhello\n\n0\r\n\r\n"), 400},
      {"a trailer", chunks("0\r\nX: y\r\n\r\n"), 400},
      {"a trailer behind data", chunks("1\r\na\r\n0\r\nX: y\r\n\r\n"), 400},
      {"a length as a trailer", chunks("0\r\nContent-Length: 5\r\n\r\n"), 400},
      {"a Host as a trailer", chunks("0\r\nHost: b\r\n\r\n"), 400},
      {"an Authorization as a trailer", chunks("0\r\nAuthorization: Bearer a\r\n\r\n"), 400},
      {"a folded trailer", chunks("0\r\n x\r\n\r\n"), 400},
      {"a request as a trailer", chunks("0\r\nGET /x HTTP/1.1\r\n\r\n"), 400},
      {"LF behind the last chunk", chunks("0\r\n\n"), 400},
      {"CR CR LF behind the last chunk", chunks("0\r\n\r\r\n"), 400},
  };
  for (const char* size : {"g\r\n",
                           "\r\n",
                           "0x5\r\n",
                           "-1\r\n",
                           "+5\r\n",
                           " 5\r\n",
                           "\t5\r\n",
                           "5 \r\n",
                           "5\t\r\n",
                           "00000000000000005\r\n",
                           "10000000000000005\r\n",
                           "ffffffffffffffff\r\n",
                           "5\n",
                           "5\r",
                           "5,5\r\n",
                           "5;a=b\r\n",
                           "5;a=\"b\"\r\n",
                           "5;a=\"\r\n",
                           "5;\r\n",
                           "5 ;a\r\n",
                           "5;\n",
                           "5;a\nb\r\n",
                           "5h\r\n",
                           "\xd9\xa5\r\n",
                           "0;a\r\n",
                           "0 \r\n",
                           "0\n\n",
                           "00g\r\n",
                           "5\v\r\n",
                           ";\r\n"})
    all.push_back(
        {std::string("the chunk size ") + size, chunks(std::string(size) + "hello\r\n"), 400});
  return all;
}

inline std::vector<HostileRequest> hostile_requests() {
  std::vector<HostileRequest> all;
  for (const auto& some : {hostile_line_endings(), hostile_request_lines(), hostile_fields(),
                           hostile_framing(), hostile_chunks()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace lockstep::http::test
