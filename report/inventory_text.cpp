// SPDX-License-Identifier: Apache-2.0
#include "report/inventory_text.h"

#include <algorithm>
#include <ostream>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/inventory_json.h"
#include "report/terminal_page.h"
#include "report/text.h"

namespace neuroncheck::report {
namespace {

struct Row {
  std::string op;
  OpGroup group = OpGroup::Compute;
  std::size_t count = 0;
  std::vector<std::string> dtypes;
};

std::vector<Row> rowsOf(const Model& model) {
  std::map<std::pair<OpName, OpGroup>, Row> rows;
  for (const OpUse& use : model.uses) {
    Row& row = rows[{use.op, use.group}];
    row.op = use.op.str();
    row.group = use.group;
    ++row.count;
    for (const Argument& argument : use.args) {
      forEachTensor(argument.value, [&](const TensorValue& tensor) {
        std::string dtype(shortName(tensor.spec.dtype));
        if (std::ranges::find(row.dtypes, dtype) == row.dtypes.end()) {
          row.dtypes.push_back(std::move(dtype));
        }
      });
    }
  }
  std::vector<Row> out;
  out.reserve(rows.size());
  for (auto& [key, row] : rows) {
    out.push_back(std::move(row));
  }
  std::ranges::stable_sort(out, [](const Row& a, const Row& b) { return a.count > b.count; });
  return out;
}

void writeOperators(TerminalPage& page, const Model& model) {
  const auto rows = rowsOf(model);
  std::size_t opWidth = 8;
  for (const Row& row : rows) {
    opWidth = std::max(opWidth, columns(printable(row.op)));
  }
  constexpr std::size_t kGroup = 14;
  opWidth = std::min(opWidth, page.width() - 4 - 6 - 2 - kGroup - 2 - 8);
  page.line(fmt::format("    {}{:>6}  {}  dtypes", padded("operator", opWidth), "uses",
                        padded("group", kGroup)));
  for (const Row& row : rows) {
    const std::string text =
        fmt::format("    {}{:>6}  {}  ", padded(shortened(printable(row.op), opWidth), opWidth),
                    row.count, padded(name(row.group), kGroup));
    page.line(text + shortened(fmt::format("{}", fmt::join(row.dtypes, ",")),
                               page.width() - columns(text)));
  }
}

void writeModel(TerminalPage& page, const Model& model) {
  std::set<OpName> distinct;
  for (const OpUse& use : model.uses) {
    distinct.insert(use.op);
  }
  page.heading("  model " + printable(model.name));
  page.paragraph(
      4,
      fmt::format(
          "{} of {} in {}; dialect {}; made on {}", counted(model.uses.size(), "use", "uses"),
          counted(distinct.size(), "operator", "operators"),
          counted(model.nodeCount, "node", "nodes"),
          model.dialect.empty() ? "unknown" : model.dialect,
          model.madeOn.empty() ? "unknown" : fmt::format("{}", fmt::join(model.madeOn, " and "))),
      2);
  writeOperators(page, model);
  std::map<std::string, std::size_t> higherOrder;
  for (const HigherOrderUse& use : model.higherOrder) {
    ++higherOrder[use.name];
  }
  for (const auto& [op, count] : higherOrder) {
    page.paragraph(4, fmt::format("higher-order {} x{}", op, count));
  }
  for (const auto& [symbol, range] : model.ranges) {
    page.paragraph(4, fmt::format("dynamic {}: {} to {}", symbol,
                                  range.min ? std::to_string(*range.min) : "any",
                                  range.max ? std::to_string(*range.max) : "any"));
  }
  std::int64_t bytes = 0;
  std::size_t parameters = 0;
  for (const GraphInput& input : model.inputs) {
    if (input.kind == "PARAMETER") {
      ++parameters;
      forEachTensor(input.value, [&](const TensorValue& tensor) {
        bytes += tensor.spec.byteCount().value_or(0);
      });
    }
  }
  page.paragraph(
      4, fmt::format("{}, {} bytes", counted(parameters, "parameter", "parameters"), bytes));
  for (const std::string& note : model.notes) {
    page.paragraph(4, "note: " + note, 6);
  }
}

/// The first tensors by name, with dtype and shape.
void writeTensors(TerminalPage& page, const Checkpoint& checkpoint) {
  constexpr std::size_t kShown = 40;
  constexpr std::size_t kDType = 14;
  const std::size_t shown = std::min(checkpoint.tensors.size(), kShown);
  std::size_t width = 6;
  for (std::size_t i = 0; i < shown; ++i) {
    width = std::max(width, columns(printable(checkpoint.tensors[i].name)));
  }
  width = std::min(width, page.width() / 2);
  page.line("    " + padded("tensor", width) + "  " + padded("dtype", kDType) + "  shape");
  for (std::size_t i = 0; i < shown; ++i) {
    const CheckpointTensor& tensor = checkpoint.tensors[i];
    std::vector<std::string> sizes;
    sizes.reserve(tensor.spec.sizes.size());
    for (const SymInt& size : tensor.spec.sizes) {
      sizes.push_back(size.str());
    }
    const std::string shape =
        tensor.spec.hasShape ? fmt::format("[{}]", fmt::join(sizes, ", ")) : "unknown";
    page.line("    " + padded(shortenedLeft(printable(tensor.name), width), width) + "  " +
              padded(name(tensor.spec.dtype), kDType) + "  " +
              (tensor.problem.empty() ? shape : "cannot be: " + printable(tensor.problem)));
  }
  if (shown < checkpoint.tensors.size()) {
    page.line(
        fmt::format("    +{} more (--format json has all)", checkpoint.tensors.size() - shown));
  }
  for (const PickleGlobal& global : checkpoint.globals) {
    if (global.risk != GlobalRisk::Data) {
      page.paragraph(4, fmt::format("asks for {} ({})", printable(global.name), name(global.risk)));
    }
  }
}

}  // namespace

void writeInventoryText(const std::vector<InputResult>& inputs, std::ostream& out,
                        std::size_t width) {
  Style style;
  style.width = width;
  TerminalPage page(out, style);
  bool first = true;
  for (const InputResult& input : inputs) {
    if (!first) {
      page.blank();
    }
    first = false;
    page.paragraph(0, input.inventory.path);
    if (input.error) {
      page.paragraph(
          2, (input.inventory.checkpoint ? "no program: " : "not read: ") + input.error->text(), 2);
      if (input.inventory.checkpoint) {
        writeTensors(page, *input.inventory.checkpoint);
      }
      continue;
    }
    page.paragraph(
        2, fmt::format("{}{}{}", name(input.inventory.kind),
                       input.inventory.producer.empty() ? "" : ", ", input.inventory.producer));
    for (const FileNote& note : input.inventory.notes) {
      page.paragraph(2, fmt::format("{} {}: {}", note.rule, note.record, note.message), 2);
    }
    if (input.inventory.checkpoint) {
      writeTensors(page, *input.inventory.checkpoint);
      continue;  // its model has no operators to list
    }
    for (const Model& model : input.inventory.models) {
      writeModel(page, model);
    }
  }
}

}  // namespace neuroncheck::report
