// The versions of libraries that a process has loaded, in a fake /proc.

#include "runner/watch/proc/loaded_versions.h"

#include <gtest/gtest.h>

#include "tests/unit/support/temp_dir.h"

namespace lockstep::runner {
namespace {

constexpr char kMaps[] =
    "5580-5590 r--p 00000000 08:01 1    /usr/bin/python3.11\n"
    "7f00-7f10 r-xp 00000000 08:01 42   /usr/lib/libmpi.so.40.30.4\n"
    "7f20-7f30 r-xp 00000000 08:01 43   /env/site-packages/nvidia/nccl/lib/libnccl.so.2\n"
    "7f40-7f50 r-xp 00000000 08:01 44   /env/site-packages/torch/lib/libtorch_cpu.so\n"
    "7f60-7f70 rw-p 00000000 00:00 0\n";

TEST(LoadedVersions, LibrariesAreFoundInTheMap) {
  const LoadedLibraries found = parse_maps(kMaps);
  EXPECT_EQ(found.mpi, "/usr/lib/libmpi.so.40.30.4");
  EXPECT_EQ(found.nccl, "/env/site-packages/nvidia/nccl/lib/libnccl.so.2");
  EXPECT_EQ(found.torch, "/env/site-packages/torch/lib/libtorch_cpu.so");
  EXPECT_EQ(parse_maps(""), LoadedLibraries{});
  EXPECT_EQ(parse_maps("7f-80 r-xp 0 0 0 /x/libmpi_cxx.so.40"), LoadedLibraries{});
}

TEST(LoadedVersions, NamesAndTexts) {
  EXPECT_EQ(version_in_name("/usr/lib/libmpi.so.40.30.4"), "40.30.4");
  EXPECT_EQ(version_in_name("/usr/lib/libmpi.so"), "");
  EXPECT_EQ(version_in_name("/usr/lib/libmpi.so.1 (deleted)"), "");
  EXPECT_EQ(nccl_version_among({"torch-2.3.0.dist-info", "nvidia_nccl_cu12-2.20.5.dist-info"}),
            "2.20.5");
  EXPECT_EQ(nccl_version_among({"nvidia_nccl_cu12.dist-info", "nvidia_nccl-.dist-info"}), "");
  EXPECT_EQ(version_in_python("# x\n__version__ = '2.3.0+cu121'\ndebug = False\n"), "2.3.0+cu121");
  EXPECT_EQ(version_in_python("__version__: str = \"2.6.0\"\n"), "2.6.0");
  for (const char* bad : {"", "__version__", "__version__ = 2\nx = '1'", "__version__ = '",
                          "__version__ = 'a b'", "__version__ = ''"})
    EXPECT_EQ(version_in_python(bad), "") << bad;
}

TEST(LoadedVersions, AreReadBelowTheProcessesRootWithoutLinks) {
  const test::TempDir machine;
  machine.file("proc/17/maps", kMaps);
  machine.file("there/env/site-packages/torch/version.py", "__version__ = '2.3.0'\n");
  machine.folder("there/env/site-packages/nvidia_nccl_cu12-2.20.5.dist-info");
  machine.folder("there/env/site-packages/nvidia/nccl/lib");
  machine.link("../../there", "proc/17/root");
  const ProcReader proc(machine.path());
  EXPECT_EQ(read_versions(proc, 17), (Versions{"40.30.4", "2.20.5", "2.3.0"}));
  machine.file("secret/version.py", "__version__ = '6.6.6'\n");
  EXPECT_TRUE(io::remove_tree(machine / "there/env/site-packages/torch"));
  machine.link("../../../secret", "there/env/site-packages/torch");
  EXPECT_EQ(read_versions(proc, 17).torch, "");
  EXPECT_EQ(read_versions(proc, 18), Versions{});
}

}  // namespace
}  // namespace lockstep::runner
