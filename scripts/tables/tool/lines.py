import re, glob
def code(path):
    t = open(path).read()
    t = re.sub(r"/\*.*?\*/", "", t, flags=re.S)
    n = 0
    for l in t.split("\n"):
        l = re.sub(r"(^|\s)//.*$", "", l).strip()
        if l: n += 1
    return n
def total(*globs, skip=""):
    return sum(code(f) for g in globs for f in glob.glob(g) if not (skip and re.search(skip, f)))
print("common/wire all", total("base/common/wire/*.h","base/common/wire/*.cc"))
print("  codecs only", total("base/common/wire/*.h","base/common/wire/*.cc", skip="fields|join_token|findings"))
print("store codecs", total("base/launcher/store/*codec.cc","base/launcher/store/*codec.h"))
print("fill.h", code("base/tests/unit/common/wire/fill.h"))
print("json", total("base/launcher/api/json/*.h","base/launcher/api/json/*.cc"))
print("schema", sum(len([1 for l in open(f) if l.strip()]) for f in glob.glob("base/docs/schema/*.json")))
print("domain headers", total("base/common/domain/*.h"), "proto", total("base/proto/*.proto"))
print("tree tables:")
for h in "exit_report compute node job_spec limits".split():
    print("  ", h, code(f"base/common/domain/{h}.h"), "->", code(f"tree/common/domain/{h}.h"))
print("   facts", code("plain/launcher/facts.h"), "->", code("tree/launcher/facts.h"))
print("   ids", code("base/common/base/ids.h"), "->", code("tree/common/base/ids.h"))
for f in ("tree/common/base/fields.h","tree/common/wire/table_codec.h","tree/common/wire/table_codec.cc","tool/make_access.cc","means/hand.cc"): print(f, code(f))
n=0
for f in glob.glob("tree/**/*.h", recursive=True):
    n+=len(re.findall(r"^\s+see\(at<", open(f).read(), re.M))
print("fields in tables", n)
