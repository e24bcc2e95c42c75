// Files of data and models, and the options over them. What local files must be, is tested end to
// end (tests/e2e/test_data.py).

#include "launcher/files/data/asset_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::spec {
namespace {

using testing::HasSubstr;

AssetFile read(AssetKind kind, std::string_view text, const AssetOptions& options = {}) {
  auto file = parse_asset(kind, "data.yml", text, options);
  EXPECT_TRUE(file) << file.error().message;
  return file.value_or(AssetFile{});
}

TEST(AssetFile, HasAzuresKeys) {
  const AssetFile file =
      read(AssetKind::data,
           "$schema: https://azuremlschemas.azureedge.net/latest/data.schema.json\n"
           "name: faces\nversion: 3\ntype: URI_FILE\npath: ./faces.csv\n"
           "description: |\n  two\n  lines\ntags: {source: web, year: 2024}\n");
  EXPECT_EQ(reference_of(file.asset), "faces:3");
  EXPECT_EQ(file.asset.type, InputType::uri_file);
  EXPECT_EQ(file.asset.path, "./faces.csv");
  EXPECT_EQ(file.asset.description, "two\nlines\n");
  EXPECT_EQ(file.asset.tags.at("year"), "2024");
  ASSERT_TRUE(file.local);
  EXPECT_EQ(file.local->path, "./faces.csv");
  EXPECT_EQ(file.local->where, "data.yml:5:7");
}

TEST(AssetFile, OptionsComeBeforeTheFile) {
  const AssetFile file =
      read(AssetKind::model, "name: m\npath: ./old\ntags: {a: b, c: d}\n",
           {{{"path", "[x]"}, {"version", "7"}}, {{"a", "e"}}, {"description=draft"}});
  EXPECT_EQ(reference_of(file.asset), "m:7");
  EXPECT_EQ(file.asset.path, "[x]") << "as written";
  EXPECT_EQ(file.asset.type, InputType::custom_model);
  EXPECT_EQ(file.asset.tags.at("a"), "e");
  EXPECT_EQ(file.asset.tags.at("c"), "d");
}

TEST(AssetFile, NoneIsNeeded) {
  const auto file =
      parse_asset(AssetKind::data, "", "", {{{"name", "faces"}, {"path", "file:./d"}}, {}, {}});
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->local->path, "./d");
  const auto nothing = parse_asset(AssetKind::data, "", "");
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().message,
            "needs files: write 'path', or give --path\n"
            "needs a name: write 'name', or give --name");
}

TEST(AssetFile, AJobsOutputIsTheLaunchersToFind) {
  const AssetFile file =
      read(AssetKind::model, "name: m\npath: azureml://jobs/train/outputs/model/paths/best\n");
  EXPECT_FALSE(file.local);
  EXPECT_EQ(maker_of(file.asset).value, "train");
}

struct BadAsset {
  AssetKind kind;
  const char* text;
  const char* says;
};
constexpr AssetKind kData = AssetKind::data, kModel = AssetKind::model;
const BadAsset kBadAssets[] = {
    {kData, "name: a\npath: d\nnmae: b\n",
     "data.yml:3:1: unknown key 'nmae'; did you mean 'name'?"},
    {kData, "name: a b\npath: d\n", "data.yml:1:7: name: 'a b' is not valid"},
    {kData, "name: a\nversion: latest\npath: d\n", "data.yml:2:10: version: 'latest' stands for"},
    {kData, "name: [a]\npath: d\n", "data.yml:1:7: 'name' must be a single value, not a list"},
    {kData, "path: d\n", "needs a name: write 'name', or give --name"},
    {kData, "name: a\n", "needs files: write 'path', or give --path"},
    {kData, "name: a\npath: ''\n", "data.yml:2:7: needs files"},
    {kData, "name: a\npath: d\ntype: folder\n",
     "data.yml:3:7: 'type': folder is not a type of data asset; it is uri_file, uri_folder or "
     "mltable"},
    {kData, "name: a\npath: d\ntype: custom_model\n", "`lockstep model create` takes custom_model"},
    {kModel, "name: a\npath: d\ntype: uri_file\n", "`lockstep data create` takes uri_file"},
    {kData, "name: a\npath: https://example.com/a.csv\n",
     "data.yml:2:7: 'path': https://example.com/a.csv is not supported yet; name a local file"},
    {kData, "name: a\npath: azureml://datastores/-x/paths/x\n",
     "is not azureml://datastores/DATASTORE/paths/PATH"},
    {kData, "name: a\npath: s3://bucket/x\n", "s3://bucket/x is not supported yet"},
    {kData, "name: a\npath: azureml:b:1\n", "azureml:b:1 is registered already"},
    {kData, "name: a\npath: azureml://jobs/x\n", "is not azureml://jobs/JOB/outputs/OUTPUT"},
    {kData, "name: a\npath: d\ntags: [x]\n", "'tags' must be a mapping of keys to values"},
    {kData, "name: a\npath: d\ntags: {x: {y: z}}\n", "'tags.x' must be a single value"},
    {kModel, "name: a\npath: d\nstage: Production\n", "data.yml:3:1: 'stage' is not supported yet"},
    {kData, "- a\n", "an asset file must be a mapping of keys to values"},
};

TEST(AssetFile, WhatIsWrongIsSaidWithItsPlace) {
  for (const BadAsset& bad : kBadAssets) {
    const auto file = parse_asset(bad.kind, "data.yml", bad.text);
    ASSERT_FALSE(file) << bad.text;
    EXPECT_THAT(file.error().message, HasSubstr(bad.says)) << bad.text;
  }
}

TEST(AssetFile, AnErrorNamesTheOptionThatWasGiven) {
  AssetOptions options;
  options.values = {{"name", "faces"}, {"path", "azureml://datastore/faces/x"}};
  const auto file = parse_asset(kData, "", "", options);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message,
            "--path azureml://datastore/faces/x: 'path': azureml://datastore/faces/x is not "
            "azureml://datastores/DATASTORE/paths/PATH");
  options.values.pop_back();
  options.overrides = {"path=azureml:faces:1"};
  const auto set = parse_asset(kData, "", "", options);
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().message, ::testing::StartsWith("--set path=azureml:faces:1: "));
}

TEST(AssetFile, ErrorsOfTheLauncherHaveThePlaceOfWhatTheyAreAbout) {
  const std::string path = "azureml://datastores/lost/paths/x";
  const AssetFile file = read(kData, "name: faces\nversion: 3\npath: " + path + "\n");
  const auto said = [](const AssetFile& of, ErrorCode code, const std::string& message) {
    return with_place(make_error(code, message), of).message;
  };
  const std::string unknown = "path: " + path + ": there is no datastore 'lost'";
  EXPECT_EQ(said(file, ErrorCode::not_found, unknown), "data.yml:3:7: " + unknown);
  EXPECT_EQ(said(file, ErrorCode::already_exists, "faces:3 exists"),
            "data.yml:2:10: faces:3 exists");
  EXPECT_EQ(said(file, ErrorCode::unavailable, "nobody answers"), "nobody answers");
  AssetOptions options;
  options.values = {{"name", "faces"}, {"path", path}};
  const auto typed = parse_asset(kData, "", "", options);
  ASSERT_TRUE(typed);
  EXPECT_EQ(said(*typed, ErrorCode::not_found, unknown),
            "--path " + path + ": there is no datastore 'lost'");
}

TEST(AssetFile, EverythingThatIsWrongIsSaidAtOnce) {
  const auto file = parse_asset(kData, "data.yml", "name: [a]\ntype: x\nstage: y\ncolour: z\n");
  ASSERT_FALSE(file);
  EXPECT_EQ(faults_of(file.error()).size(), 6U) << file.error().message;
}

}  // namespace
}  // namespace lockstep::spec
