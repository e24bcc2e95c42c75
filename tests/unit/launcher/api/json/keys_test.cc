// Objects in JSON and their schemas, both from keys().

#include "launcher/api/json/keys/keys.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep::api {

enum class Colour { red, green };
Word describe(Colour colour) {
  switch (colour) {
    case Colour::red: return {0, "red"};
    case Colour::green: return {1, "green"};
  }
  return {};
}

struct Part {
  std::string name;
};
void keys(const Part& part, See& see) { see("name", part.name, "Its name."); }

struct Paged {
  int number = 0;
};
void keys(const Paged& paged, See& see) {
  see.page("paged", "Paged", "A thing with a page.");
  see("number", paged.number, "Its number.");
}

struct Whole {
  Colour colour = Colour::green;
  std::optional<int> count;
  std::string maybe;
  std::vector<Part> parts;
  Paged paged;
  bool has_more = false;
};
void keys(const Whole& whole, See& see) {
  see.page("whole", "Whole", "All of it.");
  see("colour", whole.colour, "Its colour.");
  see("count", whole.count, "null: unknown.", kFromOne);
  see.if_set("maybe", unless_empty(whole.maybe), "Left out where it is empty.");
  see("parts", whole.parts, "Its parts.");
  see("paged", whole.paged, "Another.");
  see.only_if(whole.has_more, [&](See& see) {
    see("more", true, "There is more.");
    see.if_set("least", whole.count, "Left out twice.");
  });
  see.object_or_null(
      whole.has_more, "inner", [&](See& see) { see("ahead", 0.5, "", kAnyNumber); }, "Or null.");
}

namespace {

TEST(Keys, AnObjectHasItsKeysInTheirOrderAndNoOthers) {
  EXPECT_EQ(to_json(Whole{}).dump(), R"({"colour":"green","count":null,"parts":[],)"
                                     R"("paged":{"number":0},"inner":null})");
  Whole whole{Colour::red, 2, "text", {{"a"}, {"b"}}, {3}, true};
  EXPECT_EQ(to_json(whole).dump(),
            R"({"colour":"red","count":2,"maybe":"text","parts":[{"name":"a"},{"name":"b"}],)"
            R"("paged":{"number":3},"more":true,"least":2,"inner":{"ahead":0.5}})");
  whole.has_more = false;
  EXPECT_FALSE(to_json(whole).contains("least"));
}

TEST(Keys, ASchemaSaysWhatTheTypesAndTheLinesSay) {
  Json schema;
  SchemaWriter writer(schema, SchemaWriter::Of::page);
  keys(Whole{}, writer);
  EXPECT_EQ(schema["$id"], "whole.json");
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["required"], (Json{"colour", "count", "parts", "paged", "inner"}));
  const Json& properties = schema["properties"];
  EXPECT_EQ(properties["colour"],
            (Json{{"description", "Its colour."}, {"enum", {"red", "green"}}}));
  EXPECT_EQ(properties["count"]["type"], (Json{"integer", "null"}));
  EXPECT_EQ(properties["count"]["minimum"], 1);
  EXPECT_EQ(properties["maybe"]["type"], "string");
  EXPECT_EQ(properties["parts"]["items"]["required"], Json::array({"name"}));
  EXPECT_EQ(properties["paged"], (Json{{"description", "Another."}, {"$ref", "paged.json"}}));
  EXPECT_TRUE(properties.contains("more") && properties.contains("least"));
  EXPECT_EQ(properties["inner"]["anyOf"][1]["type"], "null");
  EXPECT_FALSE(properties["inner"]["anyOf"][0]["properties"]["ahead"].contains("minimum"));
}

}  // namespace
}  // namespace lockstep::api
