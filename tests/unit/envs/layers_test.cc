#include "envs/docker/layers.h"

#include <gtest/gtest.h>

namespace lockstep::envs {
namespace {

TEST(ImageLayers, AreCountedAsDockerSaysThem) {
  Layers layers;
  EXPECT_EQ(layers.read("12: Pulling from library/debian"), "12: Pulling from library/debian");
  EXPECT_EQ(layers.read("aa: Pulling fs layer"), "image layers 0/1");
  EXPECT_EQ(layers.read("bb: Already exists"), "image layers 1/2");
  EXPECT_EQ(layers.read("cc: Pulling fs layer"), "image layers 1/3");
  EXPECT_EQ(layers.read("aa: Verifying Checksum"), "image layers 1/3");
  EXPECT_EQ(layers.read("aa: Download complete"), "image layers 1/3");
  EXPECT_EQ(layers.read("aa: Pull complete"), "image layers 2/3");
  EXPECT_EQ(layers.read("cc: Pull complete"), "image layers 3/3");
  EXPECT_EQ(layers.read("Digest: sha256:0123"), "Digest: sha256:0123");
}

TEST(ImageLayers, OfPodmanHaveANumberAlone) {
  Layers layers;
  EXPECT_EQ(layers.read("Getting image source signatures"), "Getting image source signatures");
  EXPECT_EQ(layers.read("Copying blob sha256:aa"), "image layer 1");
  EXPECT_EQ(layers.read("Copying blob sha256:bb"), "image layer 2");
  EXPECT_EQ(layers.read("Copying config sha256:cc"), "Copying config sha256:cc");
}

}  // namespace
}  // namespace lockstep::envs
