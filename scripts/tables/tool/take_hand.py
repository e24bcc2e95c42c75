"""Takes the hand-written codecs of the prototype's structs out of base/ -> means/hand.cc."""
import re
def block(text, start):
    i = text.index(start); j = text.index("{", i); depth = 0
    while True:
        if text[j] == "{": depth += 1
        if text[j] == "}":
            depth -= 1
            if depth == 0: break
        j += 1
    return text[i:j+1]
def take(path, starts):
    t = open("base/" + path).read()
    return [block(t, s) for s in starts]
out = []
J="common/wire/job_codec.cc"; C="common/wire/compute_codec.cc"; N="common/wire/node_codec.cc"
out += ["constexpr std::size_t kMaxNameBytes = 1'024;", "constexpr std::size_t kMaxDevices = 1'024;", "constexpr std::size_t kMaxInterfaces = 4'096;", "constexpr int kMaxCpuId = 1 << 20;"]
t=open("base/"+J).read()
out += re.findall(r"static_assert\(is_wire_of\(lockstep::Cause::[^;]*;", t)
out += take("common/wire/assignment_codec.cc", ["void to_wire(const lockstep::AttemptId&", "Status from_wire(const AttemptId&"])
out += take(J, ["int number_of(Rdma", "Status read_rdma", "void write_resources", "Status read_resources"])
out += take(J, ["Status read_cause(int", "void to_wire(const lockstep::RankEnd&", "Status from_wire(const RankEnd&", "void write_lost_peer", "Status read_lost_peer", "void to_wire(const lockstep::RankExit&", "Status from_wire(const RankExit&", "void to_wire(const lockstep::ClockOffset&", "Status from_wire(const ClockOffset&","void to_wire(const lockstep::PossibleFirst&", "Status from_wire(const PossibleFirst&", "void to_wire(const lockstep::NodeClock&", "Status from_wire(const NodeClock&", "void to_wire(const lockstep::ExitReport&", "Status from_wire(const ExitReport&"])
out += take(C, ["int number_of(ComputeType", "Status read_type", "int number_of(NodeSource", "Status read_source", "int number_of(Tier", "void write_scale", "Status read_scale", "void write_settings", "Status read_settings", "void to_wire(const lockstep::SshHost&", "Status from_wire(const SshHost&", "void to_wire(const lockstep::ComputeSpec&", "Status from_wire(const ComputeSpec&"])
out += take(N, ["Status read_ids", "void to_wire(const lockstep::GpuDevice&","Status from_wire(const GpuDevice&","void to_wire(const lockstep::NetworkInterface&","Status from_wire(const NetworkInterface&","void to_wire(const lockstep::RdmaPort&","Status from_wire(const RdmaPort&","void to_wire(const lockstep::Inventory&","Status from_wire(const Inventory&"])
out += take("common/wire/access_codec.cc", ["int number_of(Approval", "Status read_approval"])
f="launcher/store/fact_codec.cc"
for name in ("TokenCreated","PartGone"):
    b = take(f, [f"void operator()(const launcher::{name}& f)"])[0]
    b = re.sub(r"void operator\(\)\(const launcher::(\w+)& f\) const \{\n    auto\* to = [^\n]*\n", r"void to_wire(const launcher::\1& f, \1* to) {\n", b)
    out += [b] + take(f, [f"Status from_wire(const {name}& from"])
text = "\n\n".join(out)
text = re.sub(r"\n[^\n]*from\.hang[^\n]*|\n[^\n]*has_hang[^\n]*", "", text)
text = re.sub(r"\n  if \(from\.fabric\)[^\n]*|\n  if \(from\.has_fabric[^\n]*", "", text)
text = re.sub(r"\n  write_list\(from\.instance\.schedules[^\n]*|\n  TRY\(read_list\(from\.schedules\(\)[^\n]*", "", text)
head = '''// The hand-written codecs of today, as they are, of the prototype's structs.
#include <climits>
#include "means/codec.h"
#include "common/domain/provider_settings.h"
#include "common/wire/fields.h"
#include "proto/compute.pb.h"
#include "proto/journal.pb.h"
namespace lockstep::pb {
'''
tail = '''
}  // namespace lockstep::pb
namespace lockstep::means {
#define MEANS(Domain, Wire) \\
  void write(const Domain& from, pb::Wire* to) { pb::to_wire(from, to); } \\
  Status read(const pb::Wire& from, Domain* to) { return pb::from_wire(from, to); }
MEANS(ExitReport, ExitReport)
MEANS(RankExit, RankExit)
MEANS(ComputeSpec, ComputeSpec)
MEANS(Inventory, Inventory)
MEANS(launcher::PartGone, PartGone)
MEANS(launcher::TokenCreated, TokenCreated)
void write(const ResourceRequest& from, pb::ResourceRequest* to) { pb::write_resources(from, to); }
Status read(const pb::ResourceRequest& from, ResourceRequest* to) { return pb::read_resources(from, to); }
}
'''
open("means/hand.cc","w").write(head + text + tail)
