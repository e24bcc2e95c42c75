// Whatever a client sends to the gateway: the parser reads the same however the bytes are cut,
// reads nothing behind a refusal, and holds no more than its limits; the connection around it
// answers each request once and in order, never more than was asked, and always ends. The first
// byte says how large the pieces are, the second what the handler does.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/match.h"
#include "launcher/gateway/http/server/connection.h"

namespace {

using namespace lockstep;
using namespace lockstep::http;

void demand(bool holds) {
  if (!holds) std::abort();
}

struct Reading {
  std::vector<Request> requests;
  std::vector<std::string> bodies{""};
  int status = 0;
  friend bool operator==(const Reading&, const Reading&) = default;
};

void check_request(const Request& request) {
  const Limits limits;
  demand(request.target.starts_with('/') && request.target.size() <= limits.target_bytes);
  for (const char c : request.target) demand(c > ' ' && c < 0x7f);
  demand(!request.host.empty() && request.headers.size() <= limits.fields);
  demand(!(request.is_chunked && request.content_length));
  for (const Headers::Field& field : request.headers) {
    demand(is_token(field.name) && field.name == lower_case(field.name));
    for (const char c : field.value) demand(!is_control(c) || c == '\t');
  }
}

Reading read_in_pieces(std::string_view bytes, std::size_t size) {
  RequestParser parser{Limits{}};
  Reading reading;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) {
    parser.feed(bytes.substr(0, size));
    for (bool goes_on = true; goes_on;) {
      auto step = parser.next();
      std::visit(Match{[&](const RequestParser::NeedMore&) { goes_on = false; },
                       [&](const Request& request) {
                         demand(reading.status == 0);
                         check_request(request);
                         reading.requests.push_back(request);
                       },
                       [&](const RequestParser::BodyBytes& body) {
                         demand(!body.bytes.empty());
                         reading.bodies.back() += body.bytes;
                       },
                       [&](const RequestParser::BodyEnd&) { reading.bodies.emplace_back(); },
                       [&](const Problem& problem) {
                         demand(problem.status >= 400 && problem.status < 600);
                         reading.status = problem.status;
                         goes_on = false;
                       }},
                 step);
    }
    demand(parser.buffered_bytes() <= Limits{}.head_bytes + size);
  }
  return reading;
}

class ThreeBytes final : public BodySource {
 public:
  Piece read(std::size_t) override { return {"abc", ++reads_ == 3 ? State::end : State::more}; }

 private:
  int reads_ = 0;
};

// The connection's owner and handler: it answers each request once, as `manner` says.
struct Owner {
  Connection connection{{}, Instant{1'700'000'000'000'000'000}};
  Instant now{1'700'000'000'000'000'000};
  std::uint8_t manner = 0;
  std::size_t begun = 0, ended = 0, refused = 0, written = 0;
  bool is_open = false, has_body = false;

  void answer() {
    Response response = text_response(200, "text/plain", "hello");
    if ((manner & 1) != 0) response.source = std::make_shared<ThreeBytes>();
    connection.answer(now, std::move(response));
  }
  void turn() {
    for (;;) {
      while (auto event = connection.next_event(now)) take(*event);
      if (connection.output().empty()) return;
      demand(connection.output().size() < Limits{}.output_bytes + (16 << 10));
      const std::size_t size =
          (manner & 2) != 0 ? 1 + connection.output().size() / 2 : connection.output().size();
      written += size;
      connection.wrote(now, size);
    }
  }
  void take(ConnectionEvent& event) {
    std::visit(
        Match{[&](RequestBegun& request) {
                demand(!is_open);
                is_open = true;
                has_body = request.request.has_body();
                ++begun;
                if (has_body && (manner & 4) == 0) return connection.take_body(now, 1'000);
                answer();
              },
              [&](BodyReceived& body) { demand(is_open && has_body && !body.bytes.empty()); },
              [&](BodyComplete&) {
                demand(is_open && has_body);
                answer();
              },
              [&](Answered&) {
                demand(is_open);
                is_open = false;
                ++ended;
              },
              [&](Dropped& how) {
                demand(how.was_begun == is_open);
                is_open = false;
                how.was_begun ? ++ended : ++refused;
              }},
        event);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3 || size > 100'000) return 0;
  const std::size_t piece = 1 + std::size_t{data[0]} * 16;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);

  demand(read_in_pieces(bytes, piece) == read_in_pieces(bytes, 1'000));

  Owner owner;
  owner.manner = data[1];
  for (std::string_view rest = bytes; !rest.empty() && owner.connection.wants_input();
       rest.remove_prefix(std::min(piece, rest.size()))) {
    owner.connection.received(owner.now, rest.substr(0, piece));
    owner.turn();
  }
  owner.connection.input_ended(owner.now);
  owner.turn();
  for (int i = 0; i < 10 && !owner.connection.is_over(); ++i) {
    demand(owner.connection.deadline() != Instant::never());
    owner.now = std::max(owner.now, owner.connection.deadline());
    owner.connection.expire(owner.now);
    owner.turn();
  }
  demand(owner.connection.is_over());
  demand(!owner.is_open && owner.begun == owner.ended && owner.refused <= 1);
  return 0;
}
