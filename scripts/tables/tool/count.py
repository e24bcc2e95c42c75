"""Counts which structs of the codecs are plain: every statement of their reader is of a known kind."""
import re, glob, collections, sys
files = [f for f in glob.glob("base/common/wire/*.cc") if not re.search(r"fields.cc|join_token|findings", f)] + glob.glob("base/launcher/store/*codec.cc")
def strip(t):
    t = re.sub(r"//[^\n]*", "", t); return t
R = r"from\.[\w.()]+\(\)"
regular = [
 r"(TRY|return)\(?\s*read_(text|number|rank|node_rank|port|instant|duration|key|digest|optional_digest|job|enum|cause|job_status|part_state|texts|list|map|ids|count|cpu|measure|priority|name_kind|asset_kind|stop_reason|standing_text|offset|lines|numbers|some|words|found|job_named|ends?|side|times|measures|seconds|terminal|core|rdma|approval|role|type|tier|source|word|text_list)\b.*",
 r"to->[\w.]+ = from\.[\w.()]+;?", r"to->[\w.]+ = (Bytes|NodeId|SessionId|Duration|BootId)[({]from\.[\w.()]+[)}];?",
 r"if \(from\.has_\w+\(\)\) (TRY\(.*emplace\(\).*|to->\w+ = (Bytes\{)?from\.[\w.()]+\}?;?|TRY\(read_\w+\(from.*)",
 r"(TRY|return)\(?\s*from_wire\(from\.[\w.()]+, &to->[\w.]+(\.emplace\(\))?\)\)?;?",
 r"return \{\};?", r"TRY\(check_count\(.*", r"for \(const (auto|std::string|int|std::uint64_t)&? \w+ : from\.[\w.()]+\) (TRY\(read_\w+\(.*emplace_back\(\).*|to->\w+\.push_back.*)",
 r"constexpr .*", r"return from\.has_\w+\(\) \? from_wire.*", r"to->\w+\.(assign|reserve)\(.*",
 r"if \(!from\.\w+\(\)\.empty\(\)\) TRY\(read_digest.*emplace.*", r"if \(from\.\w+\(\) != \w+_UNSPECIFIED\) TRY\(read_.*",
]
by_rule = [
 r"(TRY|return)\(?\s*read_(found_text|small|probe_text|fabric_text|speed|numa_number|machine|change|nodes|scaling|traffic|counts|log_data|stream|frequency|action|limit|probe_node|jobs|key_if|settings|resources|limits|distribution|hang|stop|queue|names|blobs|measure|scale|retry)\b.*",
 r"(TRY|return)\(?\s*split_digests.*", r"if \(from\.\w+\(\) < -?\w+( \|\| from\.\w+\(\) > -?\w+)?\) return bad_field.*",
 r"if \(static_cast<std::size_t>\(from\.\w+_size\(\)\) > .*", r"if \(from\.has_\w+\(\)\) \{.*(emplace|read_scale).*", r"for \(const (auto|std::string|\w+)& \w+ : from\.[\w.()]+\) \{.*emplace_back\(\).*", r"for \(const std::uint32_t port.*",
 r"using Kind.*", r"static_assert.*", r"to->kind = static_cast.*", r"for \(const (Kind|Role) \w+ :.*", r"if \(!from\.has_\w+\(\)\) return \{\};", r".*to->\w+\.emplace\(\);$", r"\w+(\.\w+)? = from\.[\w.()]+\(\);", r"(const bool is_behind|if \(is_behind\)|--to->node_rank).*",
 r"int (on|binding) = 0;", r"to->(on|binding) = static_cast.*", r"lockstep::\w+& \w+ = to->.*", r"if \(from\.\w+\(\) == \w+_UNSPECIFIED\) return.*", r"to->on\.clear\(\);", r"to->reserve.*", r"for \(const int number : from\) TRY.*", r"for \(const std::string& (name|one) :.*", r"TRY\(pb::read_text.*", r"TRY\(pb::check_count.*", r"for \(const auto& (entry|wire|blob) : from.*", r"if \(from\.has_attempt\(\)\).*", r"return from_wire\(from, &to->emplace.*", r"std::vector<lockstep::SetSecret> values;", r"for \(lockstep::SetSecret.*", r"if \(from\.(root|number)\(\).*",
]
def statements(body):
    # splits at ; outside of parentheses and braces, keeps blocks whole
    out=[]; depth=0; cur=""
    for c in body:
        cur+=c
        if c in "({": depth+=1
        if c in ")}": depth-=1
        if depth==0 and (c==";" or (c=="}" and not re.search(r"(\)|=|return)\s*\{\s*\}$|\{[^{}]*\}$", cur) ) ):
            if cur.strip(): out.append(" ".join(cur.split())); cur=""
            cur=""
    if cur.strip(): out.append(" ".join(cur.split()))
    return out
funcs=[]
for f in files:
    t=strip(open(f).read())
    for m in re.finditer(r"^(?:static )?(Status|void|template[^\n]*\nvoid|template[^\n]*\nStatus)\s+(\w+)\(([^;{}]*?)\)( const)? \{", t, re.M|re.S):
        i=m.end()-1; d=0; j=i
        while True:
            if t[j]=="{": d+=1
            if t[j]=="}":
                d-=1
                if d==0: break
            j+=1
        body=t[i+1:j]; lines=len([l for l in t[m.start():j+1].split("\n") if l.strip()])
        funcs.append((f.split("/")[-1], m.group(1), m.group(2), " ".join(m.group(3).split()), body, lines))
readers=[x for x in funcs if x[1].endswith("Status") and re.search(r"\* to$|\* out$|\*to$", x[3]) and re.search(r"const \w+&? ?(from|wire)", x[3])]
plain=hook=hard=0; pl=hl=hd=0; rest=[]
perclass=collections.Counter(); linec=collections.Counter()
for f,_,n,args,body,lines in readers:
    st=statements(body)
    bad=[s for s in st if not any(re.match(r, s) for r in regular)]
    worse=[b for b in bad if not any(re.match(r, b) for r in by_rule)]
    k="plain" if not bad else "by a rule of its line" if not worse else "some" if len(bad)<=2 and len(st)-len(bad)>=1 else "hard"
    perclass[k]+=1; linec[k]+=lines
    if worse: rest.append((f,n,args,len(st),worse))
print(dict(perclass), dict(linec), "readers", len(readers))
if len(sys.argv)>1:
    for r in rest: print(r[0],r[1],r[2],r[3]); [print("     ",b[:170]) for b in r[4]]
tot=sum(x[5] for x in funcs); print("functions", len(funcs), "lines in functions", tot)
writers=[x for x in funcs if x[1].endswith("void")]
print("writers", len(writers), sum(x[5] for x in writers), "operator() lines", sum(x[5] for x in writers if x[2].startswith("operator")))
