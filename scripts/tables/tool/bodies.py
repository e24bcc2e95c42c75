import os, sys
sys.path.insert(0, "deb/x/usr/lib/python3/dist-packages"); os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"]="python"
from google.protobuf import descriptor_pb2
s = descriptor_pb2.FileDescriptorSet(); s.ParseFromString(open("gen/all.desc","rb").read())
env=[m for f in s.file for m in f.message_type if m.name=="Envelope"][0]
out=[]
for f in env.field:
    if f.HasField("oneof_index") and f.type_name: out.append((f.type_name.split(".")[-1], f.number))
print(len(out))
open("means/bodies.inc","w").write("".join(f"template <> inline constexpr int kBody<{t}> = {n};\n" for t,n in out))
src=open("base/common/wire/control.cc").read()
head=src[:src.index("namespace {")]
i=src.index("template <typename T, typename Variant>\ninline constexpr bool kHolds"); j=src.index("template <typename Body>\nStatus read_body"); k=src.index("\n}  // namespace\n", j)
tail=src[k:]
mid=src[i:j]
text=head.replace('#include "common/wire/access_codec.h"','#include "proto/control.access.h"\n#include "common/wire/access_codec.h"')+'''namespace {

template <class T>
inline constexpr int kBody = 0;
}
}
#define BODIES
namespace lockstep::wire {
namespace {
#include "means/bodies.inc"

struct BodyWriter {
  pb::Envelope* wire;
  template <class T>
  void operator()(const T& m) const { pb::to_wire(m, pb::Access<pb::Envelope, kBody<T>>::change(*wire)); }
};

'''+mid+'''// Reads the alternative of that number; false: the variant has none.
template <class Body, class... T>
bool read_one(const pb::Envelope& wire, Status* status, Body* body, std::variant<T...>*) {
  const int number = static_cast<int>(wire.body_case());
  return ((kBody<T> == number &&
           (*status = pb::from_wire(pb::Access<pb::Envelope, kBody<T>>::get(wire), &body->template emplace<T>()), true)) || ...);
}
template <class... T>
constexpr bool has_number(int number, std::variant<T...>*) { return ((kBody<T> == number) || ...); }
template <class Body>
bool is_of(int number) { return has_number(number, static_cast<Body*>(nullptr)); }

template <typename Body>
Status read_body(const pb::Envelope& wire, Body* body) {
  Status status;
  if (read_one(wire, &status, body, static_cast<Body*>(nullptr))) return status;
  const int number = static_cast<int>(wire.body_case());
  if (number == 0) return make_error(ErrorCode::corrupt, "envelope: has no body of a kind that this version knows");
  if constexpr (kIsReply<Body>) return make_error(ErrorCode::corrupt, "is no answer to such a request");
  if (is_of<AgentMessage>(number)) return make_error(ErrorCode::permission_denied, "only a node may send this message");
  if (is_of<ClientRequest>(number)) return make_error(ErrorCode::permission_denied, "only a user may send this request");
  if (is_of<JoinMessage>(number)) return make_error(ErrorCode::permission_denied, "a join request must be sent to the join endpoint");
  return make_error(ErrorCode::invalid_argument, "a launcher does not accept this kind of message");
}
'''+tail
open("means/envelope.cc","w").write(text)
