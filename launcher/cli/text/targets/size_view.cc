#include "launcher/cli/text/targets/size_view.h"

#include <fmt/format.h>

#include "launcher/cli/terminal/labelled_lines.h"
#include "launcher/cli/terminal/output.h"

namespace lockstep::cli {
namespace {

std::string gpus_text(const Size& size) {
  if (size.gpus == 0) return "-";
  std::string text = std::to_string(size.gpus);
  if (!size.gpu_name.empty()) text += "x" + size.gpu_name;
  if (size.gpu_memory.count != 0) text += " " + to_string(size.gpu_memory);
  return text;
}

std::string rdma_text(const Size& size) {
  if (!size.rdma) return "-";
  return size.ib_gbps == 0 ? "yes" : fmt::format("{} Gb/s", size.ib_gbps);
}

std::string quota_text(const SizeView& view) {
  if (!view.quota) return "-";
  return fmt::format("{} of {}", view.used, *view.quota);
}

std::string price_text(const Size& size) {
  return size.price_per_hour ? fmt::format("{:g}", *size.price_per_hour) : "-";
}

template <typename Of>
std::string types_text(const Of& of) {
  if (of.for_clusters && of.for_instances) return "amlcompute, computeinstance";
  if (of.for_clusters) return "amlcompute";
  return of.for_instances ? "computeinstance" : "none";
}

}  // namespace

std::string size_table(const std::vector<SizeView>& sizes) {
  Table table({"NAME", "FAMILY", "CATEGORY", "VCPUS", "MEMORY", "GPUS", "RDMA", "ISOLATED",
               "APPROVAL", "QUOTA", "PRICE/H"});
  for (const SizeView& view : sizes) {
    const Size& size = view.size;
    table.add({size.name, size.series, size.category, std::to_string(size.vcpus),
               to_string(size.memory), gpus_text(size), rdma_text(size),
               size.isolated ? "yes" : "-", size.needs_approval ? "needed" : "-", quota_text(view),
               price_text(size)});
  }
  return table.text();
}

std::string size_text(const SizeView& view) {
  const Size& size = view.size;
  Lines lines;
  lines.add("name", size.name);
  lines.add("defined by", view.is_own ? "an operator of this launcher" : "the catalogue");
  lines.add("family", size.series);
  lines.add("category", size.category);
  lines.add("vcpus", std::to_string(size.vcpus));
  lines.add("memory", to_string(size.memory));
  lines.add("gpus", gpus_text(size));
  lines.add("rdma", rdma_text(size));
  lines.add("isolated", size.isolated ? "yes: nobody else is on the same server" : "no");
  lines.add("supported by", types_text(size));
  if (size.price_per_hour) lines.add("price per hour", price_text(size));
  if (size.max_mpi_nodes != 0)
    lines.add("an MPI job", fmt::format("has at most {} nodes", size.max_mpi_nodes));
  if (view.quota)
    lines.add("quota",
              fmt::format("{} machines, of which the targets may have {}", *view.quota, view.used));
  if (size.needs_approval && view.quota == 0)
    lines.add("needs approval",
              fmt::format("an admin gives it: lockstep size grant {} --machines N", size.name));
  if (!view.targets.empty()) lines.add("targets", fmt::format("{}", fmt::join(view.targets, ", ")));
  return lines.text();
}

std::string series_table(const std::vector<SizeSeries>& series) {
  Table table({"FAMILY", "CATEGORY", "RESTRICTION", "SUPPORTED BY"});
  for (const SizeSeries& one : series)
    table.add({one.name, one.category, one.needs_approval ? "requires approval" : "none",
               types_text(one)});
  return table.text();
}

}  // namespace lockstep::cli
