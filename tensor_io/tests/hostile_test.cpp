// SPDX-License-Identifier: Apache-2.0
// What a damaged or hostile file is refused with. Each row is a file made here.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scanner/tests/zip_writer.h"
#include "tensor_io/tensor_file.h"
#include "tensor_io/tests/files.h"

namespace neuroncheck::tensor_io {
namespace {

using scanner::testing::ZipWriter;
using testing::errorOf;
using ::testing::HasSubstr;
using testing::littleEndian;
using testing::npy;
using testing::npyHeader;
using testing::safetensors;

struct Row {
  std::string file;
  std::string reason;  ///< part of the message; "" when the file is sound
};

void expectAll(const std::vector<Row>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE(fmt::format("row {}, '{}'", i, rows[i].reason));
    const std::string error = errorOf(rows[i].file);
    if (rows[i].reason.empty()) {
      EXPECT_EQ(error, "");
    } else {
      EXPECT_THAT(error, HasSubstr(rows[i].reason));
    }
  }
}

TEST(Hostile, Safetensors) {
  const std::string eight(8, 'x');
  const auto one = [&](const std::string& entry) {
    return safetensors(R"({"w":)" + entry + "}", eight);
  };
  expectAll({
      {one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})"), ""},
      {safetensors("{}"), ""},
      {safetensors("{}      "), ""},
      {safetensors("{}", "x"), "1 bytes of data, its tensors take 0"},
      {littleEndian(100, 8) + "{}", "the header claims 100 bytes of a file of 10"},
      {littleEndian(1, 8) + "{}", "the header claims 1 bytes"},
      {littleEndian(1ULL << 40U, 8) + "{}", "the header claims"},
      {safetensors("{\"w\":"), "not well formed"},
      {safetensors(std::string(100, '{')), "not well formed"},
      {safetensors("{\"w\":" + std::string(40, '[') + std::string(40, ']') + "}"),
       "nested too deeply"},
      {safetensors(R"({"w":1})"), "tensor 'w'"},
      {one(R"({"dtype":"F33","shape":[2],"data_offsets":[0,8]})"),
       "tensor 'w': its dtype 'F33' is not known"},
      {one(R"({"dtype":"F6_E2M3","shape":[2],"data_offsets":[0,8]})"), "'F6_E2M3' is not known"},
      {one(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})"),
       "needs 12 bytes, its data has 8"},
      {one(R"({"dtype":"F32","shape":[3],"data_offsets":[0,12]})"),
       "ends at byte 12, the file holds 8"},
      {one(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})"), "a size is negative: -2"},
      {one(R"({"dtype":"F32","shape":[2.5],"data_offsets":[0,8]})"), "tensor 'w'"},
      {one(R"({"dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,8]})"),
       "more than 2^63"},
      {one(R"({"dtype":"F64","shape":[9223372036854775808],"data_offsets":[0,8]})"), "tensor 'w'"},
      {one(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})"), "no two ascending numbers"},
      {one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8,8]})"), "no two ascending numbers"},
      {one(R"({"dtype":"F32","shape":[2],"data_offsets":[-8,0]})"), "no two ascending numbers"},
      {one(R"({"dtype":"F32","shape":[2]})"), "data_offsets"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})"),
       "8 bytes of data, its tensors take 4"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})"),
       "no tensor has the bytes from 0"},
      {one(R"({"dtype":"F4","shape":[16],"data_offsets":[0,8]})"), ""},
      {one(R"({"dtype":"F4","shape":[2,3],"data_offsets":[0,3]})"), "its last size is not even"},
      {one(R"({"dtype":"F4","shape":[],"data_offsets":[0,1]})"), "its last size is not even"},
      {safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                   R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                   eight),
       "tensor 'b': its data begin at byte 4, within those of another, which end at 8"},
      {safetensors(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                   R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                   eight),
       "the name 'a' occurs twice"},
      {safetensors(R"({"__metadata__":{"a":1}})"), "metadata"},
      {one(R"({"dtype":"F32","shape":[)" +
           std::string(139, '1').replace(1, 138,
                                         [] {
                                           std::string ones;
                                           for (int i = 0; i < 69; ++i) {
                                             ones += ",1";
                                           }
                                           return ones;
                                         }()) +
           R"(,2],"data_offsets":[0,8]})"),
       "dimensions, at most 64"},
  });
}

TEST(Hostile, Npy) {
  const std::string eight(8, 'x');
  const std::string f4 = npyHeader("<f4", "(2,)");
  const auto withDType = [&](const std::string& dtype) {
    return npy(npyHeader(dtype, "(1,)"), eight);
  };
  const std::string magic("\x93NUMPY", 6);
  expectAll({
      {npy(f4, eight), ""},
      {npy(f4, "xxxx"), "needs 8 bytes, 4 are there: it is cut off"},
      {npy(f4, eight + "x"), "1 bytes follow its 8 bytes of data"},
      {magic, "cut off"},
      {magic + std::string("\x01\0\x10", 3), "cut off"},
      {magic + std::string("\x01\0\xff\xff", 4) + "{}", "claims 65535 bytes, 2 are there"},
      {magic + std::string("\x02\0\xff\xff\xff\xff", 6) + "{}", "at most 1048576"},
      {magic + std::string("\x04\0\x02\0\0\0", 6) + "{}", "version 4.0 is not read"},
      {magic + std::string("\x01\x01\x02\0\0\0", 6) + "{}", "version 1.1 is not read"},
      {npy("{}"), "has no 'descr'"},
      {npy("[]"), "no dictionary"},
      {npy(f4.substr(0, 20)), "cut off"},
      {npy("__import__('os').system('x')"), "no Python literal"},
      {npy(std::string(1000, '(')), "nested too deeply"},
      {npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", eight),
       "has 'descr' twice"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", eight),
       "unknown key 'x'"},
      {npy("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", eight),
       "fortran_order is no bool"},
      {npy(npyHeader("<f4", "(2)"), eight), "its shape is no tuple"},
      {npy(npyHeader("<f4", "[2]"), eight), "its shape is no tuple"},
      {npy(npyHeader("<f4", "(-2,)"), eight), "a size is negative: -2"},
      {npy(npyHeader("<f4", "(2.0,)"), eight), "no Python literal"},
      {npy(npyHeader("<f4", "(True,)"), eight), "a size is no integer"},
      {npy(npyHeader("<f4", "(4611686018427387904, 4)"), eight), "more than 2^63"},
      {npy(npyHeader("<f4", "(0, 4611686018427387904, 4)")), "more than 2^63"},
      {npy(npyHeader("<f4", "(99999999999999999999,)"), eight), "larger than 64 bits"},
      {withDType("|O"), "holds Python objects, a pickle: it is never unpickled"},
      {withDType("|O8"), "never unpickled"},
      {withDType(">f8"), "big-endian"},
      {withDType(">c8"), "big-endian"},
      {withDType("=f8"), ""},
      {withDType("<U2"), "is text"},
      {withDType("|S8"), "is text"},
      {withDType("<M8[D]"), "is a date"},
      {withDType("<m8[ns]"), "is a date or a duration"},
      {withDType("<f16"), "no counterpart in torch"},
      {withDType("<f3"), "no counterpart in torch"},
      {withDType("<V8"), "'<V8' names no format"},
      {withDType("|V0"), "no counterpart"},
      {withDType("<f8,<f8"), "is none"},
      {withDType("f99999999999999999999"), "is none"},
      {withDType("x4"), "a kind numpy does not list"},
      {withDType("<"), "is none"},
      {withDType(""), "is none"},
      {npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", eight),
       "structured"},
      {npy("{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (1,)}", eight), "structured"},
  });
}

TEST(Hostile, NpyHeadersOfAnySpacingAreRead) {
  const std::string eight(8, 'x');
  expectAll({
      {npy("{'descr':'<f4','fortran_order':False,'shape':(2,)}", eight), ""},
      {npy("{ \"shape\" :\t( 2 , )\n, \"fortran_order\": True ,\"descr\" : \"<f4\" , }  \n\n",
           eight),
       ""},
      {npy("{u'descr': b'<f4', 'fortran_order': False, 'shape': (2L,)}", eight), ""},
      {npy("{'descr': ('<f4'), 'fortran_order': (False), 'shape': ((2),)}", eight), ""},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': ()}", eight), ""},
      {npy("{'descr': '<f4' 'x', 'fortran_order': False, 'shape': (2,)}", eight),
       "no Python literal"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,,)}", eight), "no Python literal"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} 1", eight),
       "no Python literal"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,3", eight), "cut off"},
      {npy("{'descr': '<f4\\", eight), "cut off"},
  });
}

TEST(Hostile, Npz) {
  const std::string array = npy(npyHeader("<f4", "(2,)"), std::string(8, 'x'));
  const std::string other = npy(npyHeader("|u1", "(100000,)"), std::string(100'000, 'x'));
  const auto sound = ZipWriter().add("a.npy", array).add("b.npy", other, {.deflate = true});
  expectAll({
      {sound.finish(), ""},
      {sound.finish({.zip64 = true}), ""},
      {ZipWriter().add("a.npy", array, {.zip64 = true}).finish({.zip64 = true}), ""},
      {ZipWriter().finish(), ""},
      {ZipWriter().add("d/", "").add("d/a.npy", array).finish(), ""},
      {sound.finish().substr(0, 300), "cut off"},
      {ZipWriter().add("a.npy", array).add("a.npy", array).finish(), "the name 'a' occurs twice"},
      {ZipWriter().add("../a.npy", array).finish(), "leaves its folder"},
      {ZipWriter().add("/a.npy", array).finish(), "is absolute"},
      {ZipWriter().add("a", array).finish(), "record a: it is no array"},
      {ZipWriter().add(".npy", array).finish(), "record .npy: it is no array"},
      {ZipWriter().add("m/data.pkl", "x").finish(), "never unpickled"},
      {ZipWriter().add("a.npy", "PK").finish(), "tensor 'a': record a.npy: it does not begin"},
      {ZipWriter().add("a.npy", "").finish(), "it does not begin"},
      {ZipWriter().add("a.npy", array + "x").finish(), "record a.npy: 1 bytes follow"},
      {ZipWriter().add("a.npy", npy(npyHeader("|O", "(1,)"), "x")).finish(), "never unpickled"},
      {ZipWriter().add("a.npy", array, {.flags = 1}).finish(), "record a.npy: it is encrypted"},
      {ZipWriter().add("a.npy", array, {.flags = 0x40}).finish(), "it is encrypted"},
      {ZipWriter().add("a.npy", array, {.method = 14}).finish(), "compression method 14"},
      {ZipWriter().add("a.npy", array, {.localName = "b.npy"}).finish(), "another name"},
      {ZipWriter().add("b.npy", other, {.deflate = true, .claimedSize = 50}).finish(),
       "record b.npy: the npy header claims 63 bytes, 40 are there"},
      {ZipWriter().add("b.npy", other, {.deflate = true, .claimedSize = 500}).finish(),
       "record b.npy: its shape [100000] needs 100000 bytes, 427 are there"},
      {ZipWriter().add("b.npy", other, {.deflate = true, .claimedSize = 4'000'000}).finish(),
       "deflated bytes cannot hold"},
      {ZipWriter()
           .add("b.npy", other + "x",
                {.deflate = true, .claimedSize = static_cast<std::uint32_t>(other.size())})
           .finish(),
       "it does not end after"},
      {ZipWriter()
           .add("b.npy", other.substr(0, 99'000),
                {.deflate = true, .claimedSize = static_cast<std::uint32_t>(other.size())})
           .finish(),
       "it inflates to 99000 bytes"},
      {ZipWriter().add("b.npy", other, {.deflate = true, .crc = 1}).finish(),
       "do not match their checksum"},
      {ZipWriter().add("a.npy", array).finish({.directoryOffset = 5}), "directory"},
  });
}

TEST(Hostile, AStoredRecordIsComparedWithItsChecksumOnRequest) {
  const std::string zip =
      ZipWriter()
          .add("a.npy", npy(npyHeader("<f4", "(2,)"), std::string(8, 'x')), {.crc = 1})
          .finish();
  const auto file = openTensorBytes(testing::bytesOf(zip));
  ASSERT_TRUE(file);
  EXPECT_TRUE((*file)->entry("a"));
  EXPECT_THAT((*file)->verify("a").error().text(),
              HasSubstr("tensor 'a': record a.npy: its bytes do not match their checksum"));
}

TEST(Hostile, VerifyingReadsInPiecesAndMayBeStopped) {
  const std::string big(3'000'000, 'x');
  const std::string array = npy(npyHeader("|u1", "(3000000,)"), big);
  const std::string zip =
      ZipWriter().add("a.npy", array).add("b.npy", array, {.deflate = true}).finish();
  const auto file = openTensorBytes(testing::bytesOf(zip));
  ASSERT_TRUE(file);
  std::vector<std::uint64_t> done;
  const auto note = [&](std::uint64_t bytes) -> Result<void> {
    done.push_back(bytes);
    return {};
  };
  EXPECT_TRUE((*file)->verify("a", note));
  ASSERT_GE(done.size(), 2U);
  EXPECT_TRUE(std::ranges::is_sorted(done));
  EXPECT_EQ(done.back(), array.size());
  const auto stop = [](std::uint64_t) { return Result<void>(fail(ErrorCode::Nothing, "stop")); };
  EXPECT_EQ((*file)->verify("a", stop).error().code, ErrorCode::Nothing);
  // A deflated record was compared when it was unpacked.
  done.clear();
  const auto entry = (*file)->entry("b");
  ASSERT_TRUE(entry);
  EXPECT_TRUE((*file)->verify("b", note));
  EXPECT_TRUE(done.empty());
}

TEST(Hostile, OtherKindsAreNamed) {
  expectAll({
      {"", "it is empty"},
      {"x", "no safetensors, npy or npz"},
      {"\x80\x02}q\x01.", "is a pickle, which is never unpickled"},
      {"\x89HDF\r\n\x1a\n", "HDF5"},
      {R"({"weight_map":{}})", "no safetensors"},
      {"PK\x03\x04", "zip: no end record"},
  });
}

TEST(Hostile, APartOfAnyFileIsRefusedOrReadWhole) {
  const std::string array = npy(npyHeader("<f4", "(2,)"), std::string(8, 'x'));
  for (const std::string& whole :
       {array, ZipWriter().add("a.npy", array).add("b.npy", array, {.deflate = true}).finish(),
        safetensors(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "xxxxxxxx")}) {
    ASSERT_EQ(errorOf(whole), "");
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_NE(errorOf(whole.substr(0, size)), "") << size;
    }
  }
}

TEST(Hostile, OneBadTensorLeavesTheOthersReadable) {
  const std::string zip = ZipWriter()
                              .add("bad.npy", npy(npyHeader("|O", "(1,)"), "x"))
                              .add("good.npy", npy(npyHeader("|u1", "(1,)"), "x"))
                              .finish();
  const auto file = openTensorBytes(testing::bytesOf(zip));
  ASSERT_TRUE(file);
  EXPECT_FALSE((*file)->entry("bad"));
  EXPECT_TRUE((*file)->entry("good"));
  EXPECT_EQ((*file)->entry("absent").error().code, ErrorCode::Nothing);

  const std::string twelve(12, 'x');
  const std::string tensors =
      safetensors(R"({"bad":{"dtype":"F9","shape":[2],"data_offsets":[0,8]},)"
                  R"("good":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
                  twelve);
  const auto second = openTensorBytes(testing::bytesOf(tensors));
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_FALSE((*second)->entry("bad"));
  EXPECT_TRUE((*second)->entry("good"));
}

TEST(Override, SaysWhatBytesAre) {
  const std::string file = npy(npyHeader("|V2", "(4,)"), std::string(8, 'x'));
  EXPECT_THAT(errorOf(file), HasSubstr("say which dtype the bytes are (bfloat16 or"));
  EXPECT_EQ(errorOf(file, {.opaque = DType::BFloat16}), "");
  EXPECT_THAT(errorOf(file, {.opaque = DType::Float8E5M2}), HasSubstr("say which dtype"));
  EXPECT_EQ(errorOf(file, {.dtypes = {{"array", DType::BFloat16}}}), "");
  EXPECT_THAT(errorOf(file, {.dtypes = {{"array", DType::Float32}}}),
              HasSubstr("has elements of 2 bytes, float32 has 4"));
  const std::string bits = npy(npyHeader("<u2", "(4,)"), std::string(8, 'x'));
  const auto opened = openTensorBytes(testing::bytesOf(bits), {.opaque = DType::BFloat16});
  EXPECT_EQ((*opened)->head("array")->dtype, DType::UInt16) << "a dtype the file names stays";
}

}  // namespace
}  // namespace neuroncheck::tensor_io
