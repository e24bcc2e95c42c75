// Archives of images, as an engine or another node gives them, whatever is in them.

#include "envs/docker/image_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/io/programs/run_program.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::envs {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kFirst(64, 'a'), kSecond(64, 'b'), kThird(64, 'c');

struct Archives : testing::Test {
  io::Folder folder(const std::string& name) {
    auto opened = io::Folder::open(dir / name);
    EXPECT_TRUE(opened);
    return *std::move(opened);
  }
  // Of the folder "in", as another node sent it.
  Result<std::string> packed() {
    TRY_ASSIGN(ImagePacker packer, ImagePacker::open(folder("in")));
    std::string all;
    for (;;) {
      TRY_ASSIGN(const std::string_view piece, packer.next());
      if (piece.empty()) return all;
      all += piece;
    }
  }
  std::string refused() {
    const auto archive = packed();
    return archive ? "" : archive.error().message;
  }
  std::string run(const std::vector<std::string>& words) {
    const auto done = io::run_program(words, seconds(20), "/usr/bin:/bin");
    EXPECT_TRUE(done && done->exit_code == 0) << (done ? done->errors : done.error().message);
    return done ? done->text : "";
  }
  // Into the folder "out", piece by piece.
  Status unpack(const std::string& archive, std::size_t piece = 1000) {
    dir.folder("out");
    ImageUnpacker unpacker(folder("out"));
    for (std::size_t at = 0; at < archive.size(); at += piece)
      TRY(unpacker.take(std::string_view(archive).substr(at, piece)));
    return unpacker.finish();
  }
  void manifest(const std::string& config, const std::vector<std::string>& layers,
                const std::string& folder = "in") {
    dir.file(folder + "/manifest.json",
             json::array({{{"Config", config}, {"RepoTags", {"python:3.12"}}, {"Layers", layers}}})
                 .dump());
  }
  // The names in an archive, as tar reads them.
  std::vector<std::string> names(const std::string& archive) {
    dir.file("archive.tar", archive);
    std::vector<std::string> all;
    std::istringstream lines(run({"tar", "-tf", dir / "archive.tar"}));
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    return all;
  }
  std::string content(const std::string& name) {
    return run({"tar", "-xOf", dir / "archive.tar", name});
  }

  test::TempDir dir;
};

TEST_F(Archives, OnlyWhatTheImageConsistsOfIsPacked) {
  dir.file("in/" + kFirst + ".json", "{\"config\": 1}");
  dir.file("in/" + kSecond + "/layer.tar", std::string(1000, 'l'));
  manifest(kFirst + ".json", {kSecond + "/layer.tar", kSecond + "/layer.tar"});
  dir.file("in/--checkpoint=1", "");
  dir.file("in/--checkpoint-action=exec=touch pwned", "");
  dir.file("in/repositories", "{\"python\": {\"3.12\": \"" + kSecond + "\"}}");
  dir.file("in/" + kThird + ".json", "{}");
  const auto archive = packed();
  ASSERT_TRUE(archive) << archive.error().message;
  EXPECT_THAT(names(*archive),
              ElementsAre(kFirst + ".json", kSecond + "/layer.tar", "manifest.json"));
  EXPECT_EQ(content(kSecond + "/layer.tar"), std::string(1000, 'l'));
  const json said = json::parse(content("manifest.json"));
  EXPECT_THAT(said[0]["RepoTags"], IsEmpty()) << "it gives no image of this node another content";
  EXPECT_EQ(said[0]["Layers"].size(), 2U);
}

TEST_F(Archives, NothingButRegularFilesOfKnownNamesIsRead) {
  dir.file("secret", "root's");
  dir.file("in/" + kFirst + ".json", "{}");
  for (const std::string& layer : std::vector<std::string>{
           "../secret", "/etc/shadow", kSecond + "/../../secret", "secret", "blobs/sha256/../x",
           "-x/layer.tar", kSecond + "/layer.tar\n", "blobs/sha256/"}) {
    manifest(kFirst + ".json", {layer});
    EXPECT_THAT(refused(), HasSubstr("is not a valid layer")) << layer;
  }
  manifest("../secret", {});
  EXPECT_THAT(refused(), HasSubstr("is not a valid name of a configuration"));
  dir.folder("in/" + kSecond);
  dir.link(dir / "secret", "in/" + kSecond + "/layer.tar");
  manifest(kFirst + ".json", {kSecond + "/layer.tar"});
  EXPECT_THAT(refused(), HasSubstr("is not a regular file"));
  dir.link("../..", "in/" + kThird);
  manifest(kFirst + ".json", {kThird + "/layer.tar"});
  EXPECT_THAT(refused(), HasSubstr("is not a regular file"));
  ASSERT_EQ(::mkfifo((dir / ("in/" + kSecond + ".tar")).c_str(), 0600), 0);
  manifest(kFirst + ".json", {kSecond + ".tar"});
  EXPECT_THAT(refused(), HasSubstr("is not a regular file"));
}

TEST_F(Archives, ABrokenManifestIsNone) {
  dir.folder("in");
  EXPECT_THAT(refused(), HasSubstr("no manifest.json"));
  for (const std::string text : {"", "[]", "{}", "[1]", "[{\"Config\": 1}]", "[{},{}]",
                                 "[{\"Config\": \"x\", \"Layers\": 1}]"}) {
    dir.file("in/manifest.json", text);
    EXPECT_NE(refused(), "") << text;
  }
}

// A layer that is like an earlier one is a link in trees of earlier versions.
TEST_F(Archives, ALinkToAnotherLayerStandsForIt) {
  dir.file("in/" + kFirst + ".json", "{}");
  dir.file("in/" + kSecond + "/layer.tar", "layer");
  dir.folder("in/" + kThird);
  dir.link("../" + kSecond + "/layer.tar", "in/" + kThird + "/layer.tar");
  manifest(kFirst + ".json", {kSecond + "/layer.tar", kThird + "/layer.tar"});
  const auto archive = packed();
  ASSERT_TRUE(archive) << archive.error().message;
  names(*archive);
  EXPECT_EQ(content(kThird + "/layer.tar"), "layer");
}

TEST_F(Archives, AnOciLayoutLosesItsNamesToo) {
  const std::string blobs = "blobs/sha256/";
  dir.file("in/" + blobs + kFirst, "{}");
  dir.file("in/" + blobs + kSecond, "layer");
  dir.file("in/" + blobs + kThird, "the manifest");
  dir.file("in/" + blobs + "x", "");
  manifest(blobs + kFirst, {blobs + kSecond});
  const json index{{"manifests",
                    {{{"mediaType", "application/vnd.oci.image.manifest.v1+json"},
                      {"digest", "sha256:" + kThird},
                      {"size", 12},
                      {"annotations", {{"io.containerd.image.name", "docker.io/library/python"}}},
                      {"platform", {{"os", "linux"}, {"architecture", "amd64"}}}}}}};
  dir.file("in/index.json", index.dump());
  const auto archive = packed();
  ASSERT_TRUE(archive) << archive.error().message;
  EXPECT_THAT(names(*archive), ElementsAre(blobs + kFirst, blobs + kSecond, blobs + kThird,
                                           "oci-layout", "index.json", "manifest.json"));
  const json said = json::parse(content("index.json"));
  EXPECT_EQ(said["manifests"][0]["digest"], "sha256:" + kThird);
  EXPECT_EQ(said["manifests"][0]["platform"]["architecture"], "amd64");
  EXPECT_FALSE(said["manifests"][0].contains("annotations"));
  dir.file("in/index.json", "{\"manifests\": [{\"digest\": \"sha256:../x\"}]}");
  EXPECT_THAT(refused(), HasSubstr("is not a valid digest"));
}

TEST_F(Archives, WhatAnEngineSavesIsUnpackedWithoutItsNames) {
  dir.file("saved/" + kFirst + ".json", "{}");
  dir.file("saved/" + kSecond + "/layer.tar", std::string(3000, 'l'));
  dir.file("saved/" + kSecond + "/VERSION", "1.0");
  dir.file("saved/repositories", "{}");
  dir.folder("saved/" + kThird);
  dir.link("../" + kSecond + "/layer.tar", "saved/" + kThird + "/layer.tar");
  manifest(kFirst + ".json", {kSecond + "/layer.tar", kThird + "/layer.tar"}, "saved");
  for (const std::string format : {"ustar", "gnu", "pax"}) {
    const std::string archive =
        run({"tar", "-cf", "-", "--format=" + format, "-C", dir / "saved", "."});
    for (const std::size_t piece : {std::size_t{1}, std::size_t{511}, archive.size()}) {
      const Status done = unpack(archive, piece);
      ASSERT_TRUE(done) << format << ": " << done.error().message;
      EXPECT_EQ(dir.read("out/" + kSecond + "/layer.tar"), std::string(3000, 'l'));
      EXPECT_FALSE(io::exists(dir / "out/repositories"));
      EXPECT_FALSE(io::exists(dir / ("out/" + kSecond + "/VERSION")));
      const json said = json::parse(dir.read("out/manifest.json"));
      EXPECT_THAT(said[0]["RepoTags"], IsEmpty());
      EXPECT_EQ(said[0]["Layers"], (json{kSecond + "/layer.tar", kSecond + "/layer.tar"}));
      ASSERT_TRUE(io::remove_tree(dir / "out"));
    }
  }
}

TEST_F(Archives, NothingIsWrittenElsewhere) {
  dir.file("saved/" + kFirst + ".json", "{}");
  dir.file("saved/outside", "x");
  manifest(kFirst + ".json", {}, "saved");
  const std::string archive = run({"tar", "-cf", "-", "-C", dir / "saved", "-P", "--transform",
                                   "s,outside,../../" + kSecond + ".json,", "outside",
                                   "./manifest.json", kFirst + ".json"});
  const Status done = unpack(archive);
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_FALSE(io::exists(dir / (kSecond + ".json")));
  EXPECT_THAT(io::list_directory(dir / "out").value(),
              testing::UnorderedElementsAre("manifest.json", kFirst + ".json"));
}

TEST_F(Archives, OneThatIsCutOffOrDamagedIsRefused) {
  dir.file("saved/" + kFirst + ".json", std::string(2000, 'x'));
  manifest(kFirst + ".json", {}, "saved");
  std::string archive = run({"tar", "-cf", "-", "-C", dir / "saved", kFirst + ".json"});
  EXPECT_FALSE(unpack(archive)) << "it has no manifest";
  ASSERT_TRUE(io::remove_tree(dir / "out"));
  const Status cut = unpack(archive.substr(0, 1500));
  EXPECT_THAT(cut ? "" : cut.error().message, HasSubstr("cut off"));
  ASSERT_TRUE(io::remove_tree(dir / "out"));
  archive[3] ^= 1;
  const Status damaged = unpack(archive);
  EXPECT_THAT(damaged ? "" : damaged.error().message, HasSubstr("damaged"));
}

}  // namespace
}  // namespace lockstep::envs
