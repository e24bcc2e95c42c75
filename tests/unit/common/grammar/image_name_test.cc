#include "common/grammar/image_name.h"

#include <gtest/gtest.h>

#include <string>

#include "common/domain/environment/definition.h"

namespace lockstep {
namespace {

const std::string kHex(64, 'a');

TEST(ImageNames, AllFormsAreTaken) {
  for (const std::string& name : {
           std::string("ubuntu"),
           std::string("debian:12"),
           std::string("a"),
           std::string("0/1/2"),
           std::string("localhost/train"),
           std::string("localhost:5000/team/train:v1.2-rc_3"),
           std::string("mcr.microsoft.com/azureml/openmpi4.1.0-ubuntu20.04:latest"),
           std::string("Registry.Example.COM:443/a__b/c--d.e_f"),
           "debian@sha256:" + kHex,
           "r.io/x:1@sha256:" + kHex,
           std::string("[fd00::1]:5000/x"),
           std::string("[::1]/x"),
           std::string("train:_1"),
           std::string("train:V1"),
           std::string("sha256/x:1"),
           std::string("deadbeef"),
           std::string("e0a7859642c6:latest"),
           std::string("team/e0a7859642c6"),
       }) {
    const Status status = check_image_name(name);
    EXPECT_TRUE(status) << status.error().message;
  }
}

TEST(ImageNames, WithoutTagAndDigestItIsTheLatest) {
  const std::string digest = "@sha256:" + kHex;
  for (const std::string& whole :
       {std::string("debian:12"), "debian" + digest, "h:5000/x:1" + digest, "sha256:" + kHex})
    EXPECT_EQ(tagged_image_name(whole), whole);
  for (const std::string bare : {"3", "ada", "team/cafe", "h:5000/x", "[::1]:5000/x"})
    EXPECT_EQ(tagged_image_name(bare), bare + ":latest");
}

TEST(ImageNames, ThoseOfLockstepAreNobodysToName) {
  for (const std::string& name :
       {std::string("lockstep/env"), std::string("lockstep/env:0123"),
        std::string("docker.io/lockstep/env:0123"), std::string("localhost/lockstep/env:0123"),
        "index.docker.io/lockstep/env@sha256:" + kHex}) {
    EXPECT_TRUE(is_lockstep_image(name)) << name;
    EXPECT_FALSE(check_image_name(name)) << name;
  }
  for (const std::string name :
       {"lockstep/environment:1", "registry.example/lockstep/env:1", "my/lockstep/env", "env:1"}) {
    EXPECT_FALSE(is_lockstep_image(name)) << name;
    EXPECT_TRUE(check_image_name(name)) << name;
  }
}

struct BadName {
  const char* name;
  std::string image;
  std::string message;  // behind the image in quotes
};
void PrintTo(const BadName& bad, std::ostream* out) { *out << bad.name; }

class BadImageName : public testing::TestWithParam<BadName> {};

TEST_P(BadImageName, IsRefusedWithAdvice) {
  const BadName& bad = GetParam();
  const Status status = check_image_name(bad.image);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "'" + bad.image + "' " + bad.message);
  EXPECT_EQ(validate(EnvironmentSpec{"", "", DockerEnvironment{bad.image, {}, {}}}).error().message,
            bad.image.empty() ? "environment: needs exactly one of 'image' and 'build'"
                              : "environment.image: " + status.error().message);
}

TEST(NormalImageName, IsOneForAllWaysToWriteAnImage) {
  for (const char* name : {"python", "python:latest", "library/python", "docker.io/python",
                           "docker.io/library/python:latest", "index.docker.io/library/python"})
    EXPECT_EQ(normal_image_name(name), "docker.io/library/python:latest") << name;
  EXPECT_EQ(normal_image_name("python:3.11"), "docker.io/library/python:3.11");
  EXPECT_EQ(normal_image_name("team/train"), "docker.io/team/train:latest");
  EXPECT_EQ(normal_image_name("localhost/train:1"), "localhost/train:1");
  EXPECT_EQ(normal_image_name("r.io:5000/train"), "r.io:5000/train:latest");
  EXPECT_EQ(normal_image_name("[fd00::1]:5000/a/b"), "[fd00::1]:5000/a/b:latest");
  const std::string digest = "@sha256:" + kHex;
  EXPECT_EQ(normal_image_name("python" + digest), "docker.io/library/python" + digest);
  EXPECT_EQ(normal_image_name("r.io:5000/a:3" + digest), "r.io:5000/a" + digest)
      << "docker ignores a tag beside a digest";
}

const std::string kForm = "[HOST[:PORT]/]NAME[:TAG][@sha256:…]";
const std::string kParts =
    "; parts are lower-case letters and digits, with single '.', '_', '__' or '-' between them";
const std::string kTag =
    "', which must be 1 to 128 letters, digits, '_', '.' or '-', and not begin with '.' or '-'";
const BadName kBad[] = {
    {"empty", "", "is not an image's name; write " + kForm},
    {"blank", "debian 12", "contains a blank or a control character; an image's name is " + kForm},
    {"line", "debian\n", "contains a blank or a control character; an image's name is " + kForm},
    {"dash", "--privileged",
     "begins with '-' like an option; write options of the container engine in "
     "resources.docker_args"},
    {"https", "https://r.io/x", "is an address; write the name alone: r.io/x"},
    {"docker", "docker://debian", "is an address; write the name alone: debian"},
    {"scheme_alone", "docker://", "is an address; write the name alone: " + kForm},
    {"upper", "Team/Train:V1",
     "has upper-case letters, which an image's name cannot have; write team/train"},
    {"empty_part", "a//b", "has an empty part; an image's name is " + kForm},
    {"end", "r.io/", "has an empty part; an image's name is " + kForm},
    {"start", "/a", "has an empty part; an image's name is " + kForm},
    {"dots", "a..b", "has the part 'a..b'" + kParts},
    {"underscores", "x/a___b", "has the part 'a___b'" + kParts},
    {"mixed", "a.-b", "has the part 'a.-b'" + kParts},
    {"dash_at_end", "a-", "has the part 'a-'" + kParts},
    {"character", "a$b", "has the part 'a$b'" + kParts},
    {"empty_tag", "a:", "has the tag '" + kTag},
    {"tag", "a:-1", "has the tag '-1" + kTag},
    {"two_tags", "a:1:2", "has the tag '1:2" + kTag},
    {"long_tag", "a:" + std::string(129, 't'), "has the tag '" + std::string(129, 't') + kTag},
    {"port", "r:port/x", "has the port 'port', which is not a port number"},
    {"port_above", "r.io:65536/x", "has the port '65536', which is not a port number"},
    {"no_port", "r.io:/x", "has the port '', which is not a port number"},
    {"host", "-r.io/x",
     "begins with '-' like an option; write options of the container engine in "
     "resources.docker_args"},
    {"host_end", "r.io./x", "has the registry 'r.io.', which is not a valid host"},
    {"digest", "a@sha256:12",
     "has the digest 'sha256:12', which must be sha256: and 64 hexadecimal digits (0-9, a-f)"},
    {"other_digest", "a@md5:" + kHex,
     "has the digest 'md5:" + kHex +
         "', which must be sha256: and 64 hexadecimal digits (0-9, a-f)"},
    {"id", "sha256:" + kHex, "is an id, which only one engine knows; write the image's name"},
    {"bare_id", kHex, "is an id, which only one engine knows; write the image's name"},
    {"short_id", "e0a7859642c6",
     "may be an id, which only one engine knows; write the image's name (if this is the name: "
     "e0a7859642c6:latest)"},
    {"too_long", std::string(256, 'a'), "is longer than 255 characters"},
};
INSTANTIATE_TEST_SUITE_P(Each, BadImageName, testing::ValuesIn(kBad),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace lockstep
