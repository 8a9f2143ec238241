// SPDX-License-Identifier: Apache-2.0
#include "opdb/export.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "opdb/table.h"
#include "opdb/words.h"

namespace neuroncheck::opdb {
namespace {

using Fields = std::array<std::pair<std::string_view, std::string>, 17>;

Fields fieldsOf(const SupportRow& row) {
  std::string dtypes = row.dtypes;
  std::ranges::replace(dtypes, '|', ',');
  return {{{"op", row.op},
           {"scope", std::string(name(row.scope))},
           {"status", std::string(name(row.status))},
           {"product", row.product},
           {"release", row.release},
           {"mode", row.mode},
           {"chip", row.chip},
           {"dtypes", std::move(dtypes)},
           {"predicate", row.predicate},
           {"otherwise", row.otherwise ? std::string(name(*row.otherwise)) : std::string()},
           {"path_note", row.pathNote},
           {"vendor_test", row.vendorTest},
           {"note", row.note},
           {"evidence", row.evidence},
           {"confidence", std::string(neuroncheck::name(row.confidence))},
           {"observed", row.observed},
           {"source", row.source}}};
}

}  // namespace

std::vector<SupportRow> exportedRows(const Database& database, std::string_view product,
                                     std::string_view release) {
  std::vector<SupportRow> rows = database.allSupport();
  std::erase_if(rows, [&](const SupportRow& row) {
    return (!product.empty() && row.product != product) ||
           (!release.empty() && row.release != release);
  });
  return rows;
}

std::string exportCsv(const std::vector<SupportRow>& rows) {
  std::string out;
  const auto line = [&](const Fields& fields, auto part) {
    for (const auto& field : fields) {
      out += csvField(part(field));
      out += ',';
    }
    out.back() = '\n';
  };
  line(fieldsOf({}), [](const auto& field) { return field.first; });
  for (const SupportRow& row : rows) {
    line(fieldsOf(row), [](const auto& field) -> std::string_view { return field.second; });
  }
  return out;
}

std::string exportJson(const std::vector<SupportRow>& rows) {
  nlohmann::ordered_json document;
  document["schema"] = kSupportSchema;
  document["rows"] = nlohmann::ordered_json::array();
  for (const SupportRow& row : rows) {
    nlohmann::ordered_json object;
    for (const auto& [key, value] : fieldsOf(row)) {
      object[std::string(key)] = value;
    }
    document["rows"].push_back(std::move(object));
  }
  return document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace neuroncheck::opdb
