#!/usr/bin/python3
"""The kernel of a plugin: of each message with (domain) writes to_wire and from_wire that name each member, and
leave the values to the overloads of table_codec.h. 40 lines; filler, JSON and schema are as many each."""
import os, sys
os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"
sys.path[:0] = ["3/dist-packages", ""]
from google.protobuf.compiler import plugin_pb2
import options_pb2 as o
def rule_of(r):
    parts = [f".{k} = {getattr(r, k)}" for k in ("low", "high", "bytes", "count") if r.HasField(k)]
    return "{" + ", ".join(parts + ([".cut = true"] if r.cut else [])) + "}"
request = plugin_pb2.CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
response = plugin_pb2.CodeGeneratorResponse(supported_features=1)
for file in request.proto_file:
    if file.name not in request.file_to_generate: continue
    text = [f'#include "{file.name[:-6]}.access.h"', "namespace lockstep::pb {"]
    for m in file.message_type:
        domain = m.options.Extensions[o.domain]
        if not domain: continue
        write, read = [], []
        for f in m.field:
            r = f.options.Extensions[o.rule]
            name = f.name.removesuffix("_ns").removesuffix("_bytes")
            member, access = r.member or name, f"Access<{m.name}, {f.number}>"
            if r.offset: write.append(f"  write_field<{access}>(shifted<1>(from.{member}), {rule_of(r)}, *to);")
            else: write.append(f"  write_field<{access}>(from.{member}, {rule_of(r)}, *to);")
            to = f"shifted<1>(to->{member})" if r.offset else f"to->{member}"
            read.append(f'  if (!read_field<{access}>(from, {rule_of(r)}, {{"{m.name}", "{name}"}}, fault, {to})) return false;')
        text += [f"void to_wire(const lockstep::{domain}& from, {m.name}* to) {{", *write, "}",
                 f"bool from_wire(const {m.name}& from, Fault* fault, lockstep::{domain}* to) {{", *read, "  return true;", "}"]
    out = response.file.add(); out.name = file.name[:-6] + ".codec.inc"; out.content = "\n".join(text + ["}"]) + "\n"
sys.stdout.buffer.write(response.SerializeToString())
