"""tree -> tree_describe: Boost.Describe and a list of Specs in the order of the members."""
import re
for p in ["common/base/ids.h","launcher/facts.h"]+["common/domain/%s.h"%x for x in "exit_report compute node job_spec limits".split()]:
    t = open("tree_describe/"+p).read()
    pat = re.compile(r"  template <class S, class See>\n  static void fields\(S& s, See&& see\) \{\n(.*?)\n  \}\n", re.S)
    def repl(m):
        body = m.group(1)
        calls = re.split(r";\n", body.rstrip(";") )
        members=[]; specs=[]; extra=[]
        for c in calls:
            c=" ".join(c.split())
            k = re.match(r'see\((at<(\d+)>|nowhere), ("[^"]*"), (shifted<1>\()?s\.([\w.]+)\)?, ((?:"(?:[^"\\]|\\.)*" ?)+)(, (\{.*\}))?\)$', c)
            assert k, c
            n = k.group(2) or "0"; rule = k.group(8) or "{}"
            if "." in k.group(5):
                extra.append(f"    see(at<{n}>, {k.group(3)}, s.{k.group(5)}, {k.group(6)}, {rule});"); continue
            if k.group(4): rule = rule.replace("{", "{").replace("}", ", .by = 1}") if False else rule[:-1].replace(".null", ".by = 1, .null") + "}" if ".null" in rule else rule
            members.append(k.group(5)); specs.append(f"      {{{n}, {k.group(3)}, {k.group(6).strip()}, {rule}}},")
        s = "    BOOST_DESCRIBE_CLASS(%s, (), (%s), (), ())\n" % (cur(m.start()), ", ".join(members))
        s += "  static constexpr Spec kSpecs[] = {\n" + "\n".join(specs) + "\n  };\n"
        if extra: s += "  template <class S, class See>\n  static void more(S& s, See&& see) {\n" + "\n".join(extra) + "\n  }\n"
        return s
    def cur(pos):
        return re.findall(r"^struct (\w+) \{", t[:pos], re.M)[-1]
    t = pat.sub(repl, t)
    open("tree_describe/"+p,"w").write(t)
f="tree_describe/common/base/fields.h"
t=open(f).read()
t=t.replace("#include <cstdint>","#include <boost/describe/class.hpp>\n#include <cstdint>").replace("  bool cut = false;","  int by = 0;\n  bool cut = false;")
t=t.replace("// A value and its number and word.","struct Spec {\n  int number;\n  const char* name;\n  const char* says;\n  Rule rule;\n};\n\n// A value and its number and word.")
open(f,"w").write(t)
f="tree_describe/common/wire/table_codec.h"
t=open(f).read()
t=t.replace("// ---- values that are one number","""template <class T, class S, class See>
void each_field(S& s, See&& see) {
  using Members = boost::describe::describe_members<T, boost::describe::mod_public>;
  boost::mp11::mp_for_each<boost::mp11::mp_iota<boost::mp11::mp_size<Members>>>([&](auto i) {
    constexpr const Spec& spec = T::kSpecs[i];
    using D = boost::mp11::mp_at<Members, decltype(i)>;
    if constexpr (spec.rule.by != 0)
      see(at<spec.number>, spec.name, shifted<1>(s.*D::pointer), spec.says, spec.rule);
    else
      see(at<spec.number>, spec.name, s.*D::pointer, spec.says, spec.rule);
  });
  if constexpr (requires { T::more(s, see); }) T::more(s, see);
}

// ---- values that are one number""")
t=t.replace("T::fields(from, Writer<W>{*to})","each_field<T>(from, Writer<W>{*to})").replace("T::fields(*to, Reader<W, T>{from, fault})","each_field<T>(*to, Reader<W, T>{from, fault})")
t=t.replace("#include <map>","#include <boost/describe/members.hpp>\n#include <boost/mp11.hpp>\n#include <map>")
open(f,"w").write(t)
