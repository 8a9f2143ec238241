// SPDX-License-Identifier: Apache-2.0
// Every exported model of datasets/models against what torch itself says of it.
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "scanner/open.h"
#include "scanner/tests/small_catalogue.h"

namespace neuroncheck::scanner {
namespace {

std::vector<std::filesystem::path> fixtures() {
  std::vector<std::filesystem::path> result;
  for (const auto& entry :
       std::filesystem::directory_iterator(NEURONCHECK_SOURCE_DIR "/datasets/models")) {
    if (entry.path().extension() == ".pt2" &&
        std::filesystem::exists(entry.path().string() + ".oracle.json")) {
      result.push_back(entry.path());
    }
  }
  return result;
}

/// Operator, node, graph and user place of each use, in no order.
using Uses = std::map<std::string, int>;

Uses usesOf(const Model& model) {
  Uses result;
  for (const OpUse& use : model.uses) {
    ++result[use.op.str() + " " + use.node + " " + use.graph + " " + use.source.str() + " " +
             use.lastFrame.str()];
  }
  return result;
}

std::string textOf(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : "";
}

Uses usesOf(const nlohmann::json& model) {
  Uses result;
  for (const char* list : {"ops", "custom_ops"}) {
    for (const auto& op : model.at(list)) {
      for (const auto& node : op.at("nodes")) {
        ++result[textOf(op.at("target")) + " " + textOf(node.at("name")) + " " +
                 textOf(node.value("graph", nlohmann::json())) + " " + textOf(node.at("source")) +
                 " " + textOf(node.at("last_frame"))];
      }
    }
  }
  return result;
}

TEST(Fixtures, HaveTheOperatorsAndPlacesTorchSees) {
  const testing::SmallCatalogue catalogue;
  int compared = 0;
  for (const auto& path : fixtures()) {
    const auto oracle = nlohmann::json::parse(std::ifstream(path.string() + ".oracle.json"));
    if (oracle.at("kind") != "exported_program") {
      continue;
    }
    const auto inventory = scan(path.string(), catalogue).inventory;
    ASSERT_TRUE(inventory) << inventory.error().text();
    EXPECT_EQ(inventory->models.size(), oracle.at("models").size()) << path;
    for (const Model& model : inventory->models) {
      const auto& expected = oracle.at("models").at(model.name);
      EXPECT_EQ(usesOf(model), usesOf(expected)) << path << " " << model.name;
      EXPECT_EQ(model.nodeCount, expected.at("nodes").get<std::uint64_t>()) << path;
      EXPECT_EQ(model.subgraphs, expected.at("subgraphs").get<std::vector<std::string>>()) << path;
      EXPECT_EQ(model.scalarOps,
                (expected.at("scalar_ops").get<std::map<std::string, std::int64_t>>()))
          << path;
      EXPECT_EQ(model.inputs.size(), expected.at("inputs").size()) << path;
      ++compared;
    }
  }
  EXPECT_GT(compared, 20);
}

}  // namespace
}  // namespace neuroncheck::scanner
