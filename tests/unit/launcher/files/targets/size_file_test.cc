// Files of sizes: the catalogue of the build, and that each bad file is refused with its place.

#include "launcher/files/targets/size_file.h"

#include <gtest/gtest.h>

#include <set>

namespace lockstep::spec {
namespace {

std::string errors_in(std::string_view text) {
  const auto read = parse_sizes("size.yml", text);
  return read ? "none" : read.error().message;
}

const Size& size_of(const SizeCatalogue& catalogue, const std::string& name) {
  return catalogue.sizes.at(size_key(name));
}

TEST(SizeFile, TheCatalogueHasAzuresTableOfSeries) {
  const auto catalogue = builtin_sizes();
  ASSERT_TRUE(catalogue) << catalogue.error().message;
  std::set<std::string> names, restricted;
  for (const SizeSeries& series : catalogue->series) {
    names.insert(series.name);
    if (series.needs_approval) restricted.insert(series.name);
    EXPECT_TRUE(series.for_clusters && series.for_instances) << series.name;
  }
  for (const char* name :
       {"D",    "DDSv4", "Dv2", "Dv3", "DSv2",     "DSv3",  "EAv4",  "Ev3", "FSv2", "H",  "HB",
        "HBv2", "HCS",   "M",   "NC",  "NC Promo", "NCsv2", "NCsv3", "NDs", "NDv2", "NV", "NVv3"})
    EXPECT_EQ(names.count(name), 1U) << name;
  EXPECT_EQ(restricted, (std::set<std::string>{"HB", "HBv2", "HBv3", "HCS", "M", "NCsv2", "NCsv3",
                                               "NDs", "NDv2", "NVv3"}));
}

TEST(SizeFile, TheCatalogueHasTheSizesOfTheReference) {
  const auto catalogue = builtin_sizes();
  ASSERT_TRUE(catalogue) << catalogue.error().message;
  std::set<std::string> isolated;
  for (const auto& [key, size] : catalogue->sizes) {
    EXPECT_TRUE(check(size)) << size.name;
    EXPECT_EQ(size.max_mpi_nodes, 100) << size.name;
    EXPECT_FALSE(size.category.empty()) << size.name;
    if (size.isolated) isolated.insert(size.name);
  }
  EXPECT_EQ(isolated,
            (std::set<std::string>{"Standard_F72s_v2", "Standard_M128ms", "Standard_NC24rs_v3",
                                   "Standard_NC24s_v3", "Standard_ND96isr_H100_v5"}));
  const Size& v100 = size_of(*catalogue, "standard_nc24RS_v3");
  EXPECT_EQ(v100.vcpus, 24);
  EXPECT_EQ(v100.memory, gibibytes(448));
  EXPECT_EQ(v100.gpus, 4);
  EXPECT_EQ(v100.gpu_name, "V100");
  EXPECT_EQ(v100.ib_gbps, 56);
  EXPECT_TRUE(v100.rdma && v100.isolated && v100.needs_approval);
  EXPECT_FALSE(size_of(*catalogue, "Standard_NC24s_v3").rdma);
  EXPECT_FALSE(size_of(*catalogue, "Standard_F72s_v2").needs_approval);
  EXPECT_TRUE(size_of(*catalogue, "Standard_HB60rs").needs_approval);
}

TEST(SizeFile, OneSizeAlone) {
  const auto read = parse_sizes("size.yml",
                                "name: lab-a100\nvcpus: 64\nmemory: 512g\ngpus: 4\n"
                                "gpu_name: A100\nib_gbps: 200\nprice_per_hour: 3.06\n",
                                {"isolated=true", "supported_by=[amlcompute]"});
  ASSERT_TRUE(read) << read.error().message;
  const Size& size = size_of(*read, "lab-a100");
  EXPECT_EQ(size.price_per_hour, 3.06);
  EXPECT_TRUE(size.rdma) << "it has InfiniBand";
  EXPECT_TRUE(size.isolated && size.for_clusters && !size.for_instances);
  EXPECT_EQ(size.max_mpi_nodes, 0) << "Azure's limit is that of its sizes";
}

TEST(SizeFile, BadFilesAreRefusedWithThePlace) {
  const struct {
    const char* text;
    const char* error;
  } kCases[] = {
      {"name: a\n", "size.yml:1:1: a size needs a 'vcpus'"},
      {"vcpus: 2\nmemory: 4g\n", "size.yml:1:1: a size needs a 'name'"},
      {"name: a\nvcpus: 2\n", "size.yml:1:1: a size needs a 'memory'"},
      {"name: a\nvcpu: 2\nvcpus: 2\nmemory: 4g\n",
       "size.yml:2:1: unknown key 'vcpu'; did you mean 'vcpus'?"},
      {"name: a\nvcpus: two\nmemory: 4g\n", "size.yml:2:8: 'vcpus': 'two' is not a whole number"},
      {"name: a\nvcpus: [2]\nmemory: 4g\n",
       "size.yml:2:8: 'vcpus' must be a single value, not a list"},
      {"name: a\nvcpus: 0\nmemory: 4g\n", "size.yml:2:8: vcpus: is 0; must be 1 to 65536"},
      {"name: a b\nvcpus: 2\nmemory: 4g\n",
       "size.yml:1:7: name: 'a b' is not a name of a size: write 1 to 64 letters, digits, '_', '-' "
       "and '.', beginning with a letter"},
      {"name: a\nvcpus: 2\nmemory: much\n",
       "size.yml:3:9: 'memory': 'much' is not a size; write 512m or 448g"},
      {"name: a\nvcpus: 2\nmemory: 4g\nrdma: perhaps\n",
       "size.yml:4:7: 'rdma': 'perhaps' is neither true nor false"},
      {"name: a\nvcpus: 2\nmemory: 4g\nprice_per_hour: cheap\n",
       "size.yml:4:17: 'price_per_hour': 'cheap' is not a number; write 3.06"},
      {"name: a\nvcpus: 2\nmemory: 4g\nprice_per_hour: -1\n",
       "size.yml:4:17: price_per_hour: must be 0 to 1000000"},
      {"name: a\nvcpus: 2\nmemory: 4g\ngpu_name: A100\n",
       "size.yml:1:1: gpus: is 0, but gpu_name or gpu_memory describes one"},
      {"name: a\nvcpus: 2\nmemory: 4g\nsupported_by: [aks]\n",
       "size.yml:4:16: 'supported_by': 'aks' is not a type; write amlcompute or computeinstance"},
      {"sizes: {name: a}\n", "size.yml:1:8: 'sizes' must be a list, not a mapping"},
      {"sizes: [a]\n",
       "size.yml:1:9: an item of 'sizes' must be a mapping of keys to values, not a value"},
      {"sizes: []\n", "size.yml:1:1: 'sizes' is empty"},
      {"sizes:\n- {name: a, vcpus: 2, memory: 4g}\n- {name: A, vcpus: 2, memory: 4g}\n",
       "size.yml:3:3: size A is there twice"},
      {"size: []\nsizes: []\n", "size.yml:1:1: unknown key 'size'; did you mean 'sizes'?"},
  };
  for (const auto& one : kCases) EXPECT_EQ(errors_in(one.text), one.error) << one.text;
}

}  // namespace
}  // namespace lockstep::spec
