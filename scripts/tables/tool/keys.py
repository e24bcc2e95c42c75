import re,glob
simple=0; renamed=0; other=[]; 
for f in glob.glob("base/launcher/api/json/*.cc"):
    t=re.sub(r"//[^\n]*","",open(f).read())
    items=re.findall(r'json\["(\w+)"\] =\s*(.*?);\n', t, re.S)+re.findall(r'\{"(\w+)",\s*((?:[^{}]|\{[^{}]*\})*?)\}[,}]', t)
    for k,e in items:
        e=" ".join(e.split())
        m=re.match(r'^(?:std::string\()?(?:time_or_null|text_or_null|map_of|seconds_of|to_string|known_or_null|to_json|list_of<\w+>|Json|limit|said|duration_or_null)?\(?(\w+)(?:\.|->)(\w+)(?:\.(?:count|value|ns))?[,)\w ]*\)*$', e)
        m2=re.match(r'^(\w+)\.(\w+)(?:\.count|\.value)?(?: (?:==|<) \S+|\.empty\(\))? \? (.*)$', e)
        if m: 
            if m.group(2)==k: simple+=1
            else: renamed+=1
        elif m2: 
            if m2.group(2)==k: simple+=1
            else: renamed+=1
        else: other.append((f.split("/")[-1],k,e[:90]))
print("simple",simple,"renamed",renamed,"other",len(other))
import collections
print(collections.Counter(o[0] for o in other))
for o in other[:60]: print(o)
