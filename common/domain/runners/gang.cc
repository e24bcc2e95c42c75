#include "common/domain/runners/gang.h"

#include <algorithm>

namespace lockstep {

namespace {

void put_number(std::uint64_t value, std::string* out) {
  for (int i = 0; i < 8; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

void put_text(std::string_view text, std::string* out) {
  put_number(text.size(), out);
  *out += text;
}

}  // namespace

bool spans_hosts(const GangTable& gang) {
  return std::any_of(gang.members.begin(), gang.members.end(), [&gang](const GangMember& member) {
    return member.host_id != gang.members.front().host_id;
  });
}

int tree_parent(int node_rank, int radix) { return node_rank == 0 ? -1 : (node_rank - 1) / radix; }

TreeChildren tree_children(int node_rank, int nodes, int radix) {
  const std::int64_t first = static_cast<std::int64_t>(node_rank) * radix + 1;
  if (first >= nodes) return {};
  return {static_cast<int>(first), static_cast<int>(std::min<std::int64_t>(
                                       radix, static_cast<std::int64_t>(nodes) - first))};
}

// Numbers have 8 bytes, little-endian; a text follows its length. The fields: "lockstep gang 1",
// the job, the attempt's number and incarnation, the master port, 1 and the fabric's link layer,
// subnet and pkey or 0, the number of rows; for each row the node, host name, address, host id,
// port, key and GPUs.
Digest digest_of(const AttemptId& attempt, const GangTable& table) {
  Sha256 hash;
  std::string bytes;
  put_text("lockstep gang 1", &bytes);
  put_text(attempt.job.value, &bytes);
  put_number(attempt.number, &bytes);
  put_number(attempt.incarnation, &bytes);
  put_number(table.master_port, &bytes);
  put_number(table.fabric ? 1 : 0, &bytes);
  if (table.fabric) {
    put_text(table.fabric->link_layer, &bytes);
    put_text(table.fabric->subnet, &bytes);
    put_number(static_cast<std::uint64_t>(table.fabric->pkey), &bytes);
  }
  put_number(table.members.size(), &bytes);
  hash.update(bytes);
  for (const GangMember& member : table.members) {
    bytes.clear();
    put_number(member.node.value, &bytes);
    put_text(member.hostname, &bytes);
    put_text(member.address, &bytes);
    put_text(member.host_id, &bytes);
    put_number(member.runner_port, &bytes);
    put_text(member.runner_key.value, &bytes);
    put_number(static_cast<std::uint64_t>(member.gpus), &bytes);
    hash.update(bytes);
  }
  return hash.finish();
}

GangShare share_of(const GangTable& table, int node_rank, int radix, const Digest& digest) {
  GangShare share;
  share.nodes = static_cast<int>(table.members.size());
  share.radix = radix;
  share.digest = digest;
  if (const int parent = tree_parent(node_rank, radix); parent >= 0)
    share.parent = table.members[static_cast<std::size_t>(parent)];
  const TreeChildren children = tree_children(node_rank, share.nodes, radix);
  for (int child = children.first; child < children.first + children.count; ++child)
    share.children.push_back(table.members[static_cast<std::size_t>(child)].runner_key);
  return share;
}

std::string_view fault_of(const GangShare& share, int node_rank, int nodes) {
  if (share.nodes != nodes) return "is of a gang of another size";
  if (share.radix < 1 || share.radix > kMaxGangTreeRadix) return "has an impossible radix";
  if (share.parent.has_value() != (node_rank != 0))
    return node_rank == 0 ? "names a parent of the root" : "names no parent";
  const TreeChildren children = tree_children(node_rank, nodes, share.radix);
  if (share.children.size() != static_cast<std::size_t>(children.count))
    return "does not have one key for each child of the node";
  return "";
}

}  // namespace lockstep
