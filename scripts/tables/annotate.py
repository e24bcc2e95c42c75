"""Makes the annotated .proto of the prototype's messages out of the tables (once; by hand in a real conversion)."""
import re
tables = {}
for p in ["common/base/ids.h","launcher/facts.h"]+["common/domain/%s.h"%x for x in "exit_report compute node job_spec limits".split()]:
    t = open("../tree/"+p).read(); cur=None
    for m in re.finditer(r"^struct (\w+) \{|see\((at<(\d+)>|nowhere), (\"[^\"]*\"), ((?:shifted<1>\()?s\.([\w.]+)\)?),\s*((?:\"(?:[^\"\\]|\\.)*\"\s*)+)(?:,\s*(\{.*?\}))?\);", t, re.M|re.S):
        if m.group(1): cur=m.group(1)
        elif m.group(3): tables.setdefault(cur,{})[int(m.group(3))]=(m.group(6), m.group(5), "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', m.group(7))), m.group(8) or "")
out=[]
for f in ("job","node","compute","assignment","journal"):
    for m in re.finditer(r"^message (\w+) \{\n(.*?)^\}\n", open(f"../base/proto/{f}.proto").read(), re.M|re.S):
        if m.group(1) not in tables: continue
        t=tables[m.group(1)]; body=[]
        for l in m.group(2).split("\n"):
            k=re.match(r"  ((?:optional |repeated )?[\w.]+ (\w+)) = (\d+);", l)
            if not k: continue
            n=int(k.group(3))
            if n not in t: continue
            member, expr, says, rule = t[n]
            r=[x.strip() for x in re.findall(r"\.(\w+ = [^,}]+)", rule)]
            name=k.group(2); guess=re.sub(r"_(ns|bytes)$","",name)
            if member!=guess: r.append('member = "%s"'%member)
            if "shifted" in expr: r.append("offset = true")
            opts='(says) = "%s"'%says
            if r: opts+=", (rule) = {%s}"%", ".join(x.replace(" = ",": ") for x in r)
            body.append("  %s = %d [%s];"%(k.group(1), n, opts))
        out.append("message %s {\n  option (domain) = \"%s\";\n%s\n}\n"%(m.group(1), m.group(1), "\n".join(body)))
open("annotated.proto","w").write("\n".join(out))
import textwrap
n=0
for l in "\n".join(out).split("\n"):
    n+=max(1,len(textwrap.wrap(l,100)))
print("fields", sum(len(v) for v in tables.values()), "lines of the annotated .proto at 100 columns", n)
