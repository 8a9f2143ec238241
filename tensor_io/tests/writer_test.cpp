// SPDX-License-Identifier: Apache-2.0
#include "tensor_io/tensor_writer.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tensor_io/tests/files.h"

namespace neuroncheck::tensor_io {
namespace {

using testing::bytesOf;
using ::testing::HasSubstr;

constexpr std::array kEveryDType = {
    DType::UInt8,         DType::Int8,          DType::Int16,          DType::Int32,
    DType::Int64,         DType::Float16,       DType::Float32,        DType::Float64,
    DType::Complex64,     DType::Bool,          DType::UInt16,         DType::UInt32,
    DType::UInt64,        DType::Complex128,    DType::BFloat16,       DType::Float8E4M3FN,
    DType::Float8E5M2,    DType::Float8E8M0FNU, DType::Float8E4M3FNUZ, DType::Float8E5M2FNUZ,
    DType::Float4E2M1FNx2};
constexpr std::size_t kOfBoth = 13;
constexpr std::size_t kOfNumpy = 14;

struct Given {
  DType dtype = DType::UInt8;
  std::vector<std::int64_t> sizes;
  std::string data;
};

Result<void> give(TensorSink& sink, const std::map<std::string, Given>& tensors,
                  std::size_t piece) {
  for (const auto& [name, given] : tensors) {
    NEURONCHECK_TRY_VOID(sink.begin(name, given.dtype, given.sizes));
    for (std::size_t at = 0; at < given.data.size(); at += piece) {
      NEURONCHECK_TRY_VOID(sink.append(bytesOf(std::string_view(given.data).substr(at, piece))));
    }
    NEURONCHECK_TRY_VOID(sink.finish());
  }
  return {};
}

std::map<std::string, Given> anyTensors(TensorFormat format) {
  std::map<std::string, Given> out;
  const std::size_t count = format == TensorFormat::Npy ? 1 : *rc::gen::inRange<std::size_t>(0, 6);
  for (std::size_t i = 0; i < count; ++i) {
    Given given;
    std::size_t dtype = *rc::gen::inRange<std::size_t>(
        0, format == TensorFormat::Safetensors ? kEveryDType.size() - 1 : kOfNumpy);
    if (format == TensorFormat::Safetensors && dtype >= kOfBoth) {
      ++dtype;
    }
    given.dtype = kEveryDType.at(dtype);
    given.sizes =
        *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 5));
    given.sizes.resize(std::min<std::size_t>(given.sizes.size(), 4));
    if (given.dtype == DType::Float4E2M1FNx2) {
      given.sizes.push_back(2);
    }
    std::int64_t bytes = itemSize(given.dtype);
    for (const std::int64_t size : given.sizes) {
      bytes *= size;
    }
    given.data = *rc::gen::container<std::string>(static_cast<std::size_t>(bytes),
                                                  rc::gen::arbitrary<char>());
    const std::string name = *rc::gen::nonEmpty(
        rc::gen::container<std::string>(rc::gen::elementOf(std::string_view("ab.c/d_\"'é"))));
    // Pieces of a character are no text; a name of dots leaves its folder.
    out["w" + std::to_string(i) +
        (format == TensorFormat::Npy || name.find_first_of("\xc3\xa9./") != name.npos ? ""
                                                                                      : name)] =
        given;
  }
  return out;
}

void readsBackWhatWasWritten(TensorFormat format) {
  const testing::Folder folder;
  const auto tensors = anyTensors(format);
  const auto piece = *rc::gen::inRange<std::size_t>(1, 40);
  const auto done = writeTensorFile(folder.path("t"), format,
                                    [&](TensorSink& sink) { return give(sink, tensors, piece); });
  RC_ASSERT(done.has_value());
  const auto file = openTensorFile(folder.path("t"));
  RC_ASSERT(file.has_value());
  RC_ASSERT((*file)->names().size() == tensors.size());
  for (const auto& [name, given] : tensors) {
    const auto entry = (*file)->entry(format == TensorFormat::Npy ? std::string(kSoleName) : name);
    RC_ASSERT(entry.has_value());
    RC_ASSERT(entry->dtype == given.dtype);
    RC_ASSERT(entry->sizes == given.sizes);
    RC_ASSERT(testing::textOf(entry->bytes) == given.data);
    RC_ASSERT((*file)->verify(entry->name).has_value());
  }
  std::string again = testing::readFile(folder.path("t"));
  RC_ASSERT(writeTensorFile(folder.path("t"), format, [&](TensorSink& sink) {
              return give(sink, tensors, 7);
            }).has_value());
  RC_ASSERT(testing::readFile(folder.path("t")) == again);
}

RC_GTEST_PROP(Writer, SafetensorsReadBack, ()) {
  readsBackWhatWasWritten(TensorFormat::Safetensors);
}
RC_GTEST_PROP(Writer, NpzReadsBack, ()) { readsBackWhatWasWritten(TensorFormat::Npz); }
RC_GTEST_PROP(Writer, NpyReadsBack, ()) { readsBackWhatWasWritten(TensorFormat::Npy); }

class Refusals : public ::testing::Test {
 protected:
  [[nodiscard]] std::string error(TensorFormat format, const TensorProducer& produce) const {
    const auto done = writeTensorFile(folder_.path("t"), format, produce);
    EXPECT_EQ(std::filesystem::exists(folder_.path("t")), done.has_value())
        << "whole or not at all";
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      ++files;
    }
    EXPECT_EQ(files, done ? 1U : 0U) << "nothing is left beside it";
    std::filesystem::remove(folder_.path("t"));
    return done ? "" : done.error().text();
  }
  [[nodiscard]] std::string errorOfOne(TensorFormat format, const std::string& name, DType dtype,
                                       std::vector<std::int64_t> sizes,
                                       const std::string& data) const {
    return error(format, [&](TensorSink& sink) -> Result<void> {
      NEURONCHECK_TRY_VOID(sink.begin(name, dtype, sizes));
      NEURONCHECK_TRY_VOID(sink.append(bytesOf(data)));
      return sink.finish();
    });
  }

  testing::Folder folder_;
};

TEST_F(Refusals, WhatAFormatCannotHold) {
  const auto npz = TensorFormat::Npz;
  const auto safe = TensorFormat::Safetensors;
  EXPECT_EQ(errorOfOne(npz, "a", DType::UInt8, {1}, "x"), "");
  EXPECT_THAT(errorOfOne(npz, "a", DType::BFloat16, {1}, "xx"),
              HasSubstr("tensor 'a': numpy has no dtype for bfloat16"));
  EXPECT_THAT(errorOfOne(npz, "../a", DType::UInt8, {1}, "x"), HasSubstr("leaves its folder"));
  EXPECT_THAT(errorOfOne(npz, "a\n", DType::UInt8, {1}, "x"),
              HasSubstr("no text that a zip can hold"));
  EXPECT_THAT(errorOfOne(npz, std::string(70'000, 'a'), DType::UInt8, {1}, "x"),
              HasSubstr("no text"));
  EXPECT_THAT(errorOfOne(safe, "a", DType::Complex128, {1}, std::string(16, 'x')),
              HasSubstr("no dtype for complex128"));
  EXPECT_THAT(errorOfOne(safe, "\xff", DType::UInt8, {1}, "x"),
              HasSubstr("cannot hold such a name"));
  EXPECT_THAT(errorOfOne(safe, "__metadata__", DType::UInt8, {1}, "x"),
              HasSubstr("cannot hold such a name"));
  EXPECT_THAT(errorOfOne(safe, "a", DType::Float4E2M1FNx2, {}, "x"), HasSubstr("no scalar"));
  EXPECT_THAT(errorOfOne(safe, "a", DType::Unknown, {}, "x"), HasSubstr("no fixed size"));
  EXPECT_THAT(errorOfOne(safe, "", DType::UInt8, {1}, "x"), HasSubstr("needs a name"));
  EXPECT_THAT(errorOfOne(safe, "a", DType::UInt8, {-1}, ""), HasSubstr("negative"));
  EXPECT_THAT(errorOfOne(safe, "a", DType::UInt8, {2}, "x"),
              HasSubstr("has 2 bytes, 1 were given"));
  EXPECT_THAT(errorOfOne(safe, "a", DType::UInt8, {2}, "xxx"),
              HasSubstr("has 2 bytes, more were given"));
}

TEST_F(Refusals, CallsOutOfTurn) {
  const std::vector<std::int64_t> one = {1};
  for (const auto format : {TensorFormat::Npz, TensorFormat::Npy, TensorFormat::Safetensors}) {
    EXPECT_THAT(error(format, [&](TensorSink& sink) { return sink.begin("a", DType::UInt8, one); }),
                HasSubstr("tensor 'a' is not finished"));
    EXPECT_THAT(error(format,
                      [&](TensorSink& sink) -> Result<void> {
                        NEURONCHECK_TRY_VOID(sink.begin("a", DType::UInt8, one));
                        return sink.begin("b", DType::UInt8, one);
                      }),
                HasSubstr("tensor 'a' is not finished"));
    EXPECT_THAT(error(format, [](TensorSink& sink) { return sink.append(bytesOf("x")); }),
                HasSubstr("no tensor is begun"));
    EXPECT_THAT(error(format, [](TensorSink& sink) { return sink.finish(); }),
                HasSubstr("no tensor is begun"));
    const auto twice = [&](TensorSink& sink) -> Result<void> {
      for (int i = 0; i < 2; ++i) {
        NEURONCHECK_TRY_VOID(sink.begin("a", DType::UInt8, one));
        NEURONCHECK_TRY_VOID(sink.append(bytesOf("x")));
        NEURONCHECK_TRY_VOID(sink.finish());
      }
      return {};
    };
    EXPECT_THAT(error(format, twice), HasSubstr("written before"));
  }
  const auto nothing = [](TensorSink&) -> Result<void> { return {}; };
  EXPECT_THAT(error(TensorFormat::Npy, nothing), HasSubstr("none was written"));
  EXPECT_EQ(error(TensorFormat::Npz, nothing), "");
  EXPECT_EQ(error(TensorFormat::Safetensors, nothing), "");
}

TEST(Writer, AFileThatIsThereStaysWhenWritingFails) {
  const testing::Folder folder;
  const std::string path = folder.write("t", "before");
  const auto done = writeTensorFile(
      path, TensorFormat::Npz, [](TensorSink&) -> Result<void> { return inputError("no more"); });
  EXPECT_EQ(done.error().text(), "no more");
  EXPECT_EQ(testing::readFile(path), "before");
  EXPECT_EQ(writeTensorFile(folder.path("absent/t"), TensorFormat::Npz,
                            [](TensorSink&) { return Result<void>(); })
                .error()
                .code,
            ErrorCode::Output);
  EXPECT_EQ(writeTensorFile(path, TensorFormat::Npz, [](TensorSink&) { return Result<void>(); },
                            {{"a", "b"}})
                .error()
                .code,
            ErrorCode::Usage);
}

}  // namespace
}  // namespace neuroncheck::tensor_io
