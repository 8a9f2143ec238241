// SPDX-License-Identifier: Apache-2.0
#include "scanner/checkpoint/record_pickles.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/printable.h"
#include "scanner/checkpoint/describe.h"
#include "scanner/checkpoint/globals.h"
#include "scanner/checkpoint/pickle_stream.h"

namespace neuroncheck::scanner {
namespace {

/// torch.load runs five pickles of a legacy file; of others the first.
constexpr int kPickles = 5;
/// Of these one note each: a thousand hostile records are as bad as three.
constexpr std::size_t kMostNotes = 3;

}  // namespace

void RecordPickles::look(std::size_t index) {
  if (archive_.zip().entries()[index].size == 0) {
    return;
  }
  Look look{.record = printable(archive_.name(index)), .globals = {}, .problem = {}};
  const auto names = namesIn(index);
  if (!names) {
    look.problem = names.error().text();
  } else {
    for (const std::string& name : *names) {
      look.globals.push_back({.name = name, .risk = riskOf(name)});
    }
  }
  looks_.push_back(std::move(look));
}

void RecordPickles::lookAtAll() {
  for (std::size_t i = 0; i < archive_.count(); ++i) {
    if (archive_.name(i).ends_with(".pkl")) {
      look(i);
    }
  }
}

Result<std::vector<std::string>> RecordPickles::namesIn(std::size_t index) {
  NEURONCHECK_TRY(std::shared_ptr<const ByteSource> source,
                  archive_.zip().open(index, limits_.maxPickleBytes));
  NEURONCHECK_TRY(const std::string start, source->readUpTo(0, 4));
  return start == "PK\x03\x04" ? namesInZip(std::move(source)) : namesInStream(*source);
}

Result<std::vector<std::string>> RecordPickles::namesInZip(
    std::shared_ptr<const ByteSource> source) {
  NEURONCHECK_TRY(ZipArchive zip, ZipArchive::open(std::move(source)));
  const RootedArchive inner(std::move(zip));
  std::vector<std::string> names;
  bool any = false;
  for (std::size_t i = 0; i < inner.count(); ++i) {
    if (inner.name(i) != "data.pkl") {
      continue;
    }
    any = true;
    NEURONCHECK_TRY(const auto pickle, inner.zip().open(i, limits_.maxPickleBytes));
    NEURONCHECK_TRY(const std::vector<std::string> more, namesInStream(*pickle));
    names.insert(names.end(), more.begin(), more.end());
  }
  if (!any) {
    return inputError("it is a zip without a data.pkl");
  }
  return names;
}

Result<std::vector<std::string>> RecordPickles::namesInStream(const ByteSource& source) {
  PickleStream stream(source, 0, source.size(), limits_);
  for (int i = 0; i < kPickles && stream.left() > 0; ++i) {
    std::string text;
    if (const auto read = stream.next(text); !read && i == 0) {
      limits_.maxPickleBytes -= std::min(limits_.maxPickleBytes, source.size());
      return tl::unexpected(read.error());
    } else if (!read) {
      break;  // a bare pickle, with something else behind it
    }
  }
  limits_.maxPickleBytes -= std::min(limits_.maxPickleBytes, stream.offset());
  return std::vector<std::string>(stream.globals().begin(), stream.globals().end());
}

std::set<std::string> RecordPickles::names() const {
  std::set<std::string> names;
  for (const Look& look : looks_) {
    for (const PickleGlobal& global : look.globals) {
      names.insert(global.name);
    }
  }
  return names;
}

std::vector<FileNote> RecordPickles::notes(bool all) const {
  std::vector<FileNote> notes;
  std::size_t commands = 0;
  std::size_t others = 0;
  for (const Look& look : looks_) {
    for (FileNote& note : globalNotes(look.globals, fmt::format("The record {}", look.record))) {
      const bool command = note.rule == "NC112";
      if ((command || all) && (command ? commands++ : others++) < kMostNotes) {
        note.record = look.record;
        notes.push_back(std::move(note));
      }
    }
    if (all && !look.problem.empty() && others++ < kMostNotes) {
      notes.push_back(
          {.rule = "NC109",
           .record = look.record,
           .message =
               "its pickle cannot be read, and torch.export.load would run it: " + look.problem});
    }
  }
  return notes;
}

}  // namespace neuroncheck::scanner
