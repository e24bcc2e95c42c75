"""tree -> tree_macro: at<N> becomes WIRE(name), so that no generator of accessors is needed."""
import sys, re, glob
sys.path.insert(0, "deb/x/usr/lib/python3/dist-packages")
import os; os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"]="python"
from google.protobuf import descriptor_pb2
s = descriptor_pb2.FileDescriptorSet(); s.ParseFromString(open("gen/all.desc","rb").read())
msgs = {m.name: {f.number: f.name for f in m.field} for f in s.file for m in f.message_type}
for p in ["common/base/ids.h","launcher/facts.h"]+["common/domain/%s.h"%x for x in "exit_report compute node job_spec limits".split()]:
    t = open("tree_macro/"+p).read(); out=[]; cur=None
    for line in t.split("\n"):
        m = re.match(r"struct (\w+) \{", line)
        if m: cur = m.group(1)
        line = re.sub(r"at<(\d+)>", lambda k: "WIRE(%s)" % msgs[cur][int(k.group(1))], line)
        out.append(line)
    open("tree_macro/"+p,"w").write("\n".join(out))
f="tree_macro/common/base/fields.h"
t=open(f).read()
i=t.index("template <int N>\nstruct At"); j=t.index("inline constexpr std::int64_t kLowest")
t=t[:i]+'''struct Get {};
struct Set {};
struct Change {};
struct Has {};
struct NoPresence {};
#define WIRE(name)                                                        \\
  [](auto op, auto& m, auto... v) -> decltype(auto) {                     \\
    if constexpr (std::is_same_v<decltype(op), Get>)                      \\
      return (m.name());                                                  \\
    else if constexpr (std::is_same_v<decltype(op), Set>)                 \\
      return m.set_##name(v...);                                          \\
    else if constexpr (std::is_same_v<decltype(op), Change>)              \\
      return m.mutable_##name();                                          \\
    else if constexpr (requires { m.has_##name(); })                      \\
      return m.has_##name();                                              \\
    else                                                                  \\
      return NoPresence();                                                \\
  }
struct Nowhere {};
inline constexpr Nowhere nowhere{};

'''+t[j:]
t=t.replace("#include <cstdint>","#include <cstdint>\n#include <type_traits>")
open(f,"w").write(t)
f="tree_macro/common/wire/table_codec.h"
t=open(f).read()
t=re.sub(r'template <class A, class M>\nconcept HasPresence = requires\(const M& m\) \{\s*A::has\(m\);\s*\};','@@HP@@',t)
assert '@@HP@@' in t
t=t.replace('@@HP@@','''template <class L>
struct Acc {
  static decltype(auto) get(const auto& m) { return L{}(Get{}, m); }
  static auto set(auto& m, auto v) { return L{}(Set{}, m, v); }
  static auto change(auto& m) { return L{}(Change{}, m); }
  static auto has(const auto& m) { return L{}(Has{}, m); }
};
template <class A, class M>
concept HasPresence = !std::is_same_v<decltype(A::has(std::declval<const M&>())), NoPresence>;
template <class E, int N>
struct Access {
  static decltype(auto) get(const E& m) {
    if constexpr (N == 1) { if constexpr (requires { m.limits(); }) return (m.limits()); else return (m.name()); }
    else if constexpr (requires { m.words(); }) return (m.words());
    else if constexpr (requires { m.why(); }) return (m.why());
    else return (m.value());
  }
  static auto change(E& m) {
    if constexpr (N == 1) { if constexpr (requires { m.mutable_limits(); }) return m.mutable_limits(); else return m.mutable_name(); }
    else if constexpr (requires { m.words(); }) return m.mutable_words();
    else if constexpr (requires { m.why(); }) return m.mutable_why();
    else return m.mutable_value();
  }
  static NoPresence has(const E&) { return {}; }
};''')
t=t.replace('''  template <int N, class T>
  void operator()(At<N>, const char*, const T& member, const char*, const Rule& rule = {}) const {
    if constexpr (N != 0) write_field<Access<M, N>>(member, rule, to);
  }''','''  template <class L, class T>
  void operator()(L, const char*, const T& member, const char*, const Rule& rule = {}) const {
    if constexpr (!std::is_same_v<L, Nowhere>) write_field<Acc<L>>(member, rule, to);
  }''')
t=t.replace('''  template <int N, class Member>
  void operator()(At<N>, const char* name, Member&& member, const char*, const Rule& rule = {}) const {
    if constexpr (N != 0) {
      if (fault->error) return;
      read_field<Access<W, N>>''','''  template <class L, class Member>
  void operator()(L, const char* name, Member&& member, const char*, const Rule& rule = {}) const {
    if constexpr (!std::is_same_v<L, Nowhere>) {
      if (fault->error) return;
      read_field<Acc<L>>''')
t=t.replace('#include "common/wire/access.h"\n','')
t=re.sub(r'  template <int N, class Member>\n  void operator\(\)\(At<N>, const char\* name, Member&& member, const char\*,\s*const Rule& rule = \{\}\) const \{\n    if constexpr \(N != 0\) \{', '  template <class L, class Member>\n  void operator()(L, const char* name, Member&& member, const char*, const Rule& rule = {}) const {\n    if constexpr (!std::is_same_v<L, Nowhere>) {', t)
t=t.replace('read_field<Access<W, N>>(from, rule, Place','read_field<Acc<L>>(from, rule, Place')
open(f,"w").write(t)
