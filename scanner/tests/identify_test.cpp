// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scanner/identify/identify.h"
#include "scanner/identify/pickle_walk.h"
#include "scanner/tests/program_text.h"
#include "scanner/tests/zip_writer.h"

namespace neuroncheck::scanner {
namespace {

using ::testing::HasSubstr;
using testing::ZipWriter;
using namespace std::string_literals;  // NOLINT(google-build-using-namespace): texts with NUL bytes

Identification of(const std::string& bytes) {
  auto identified = identifySource(std::shared_ptr<const ByteSource>(memorySource(bytes)), {});
  EXPECT_TRUE(identified);
  return identified ? identified->identification : Identification{};
}

/// Protocol 2 pickle of an OrderedDict with two tensors; only the opcodes matter.
const std::string kStateDict =
    "\x80\x02"s
    "ccollections\nOrderedDict\nq\x00)Rq\x01(X\x01\x00\x00\x00"
    "wctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00"
    "storagectorch\nFloatStorage\nX\x01\x00\x00\x00"
    "0X\x03\x00\x00\x00"
    "cpuK\x04tQK\x00K\x04\x85K\x01\x85\x89tR"s
    "X\x01\x00\x00\x00v((X\x07\x00\x00\x00storageX\x01\x00\x00\x00"
    "1tQtRu."s;
const std::string kModule =
    "\x80\x02"s
    "c__main__\nNet\nq\x00)\x81q\x01}(X\x0b\x00\x00\x00_parametersNX\x08\x00\x00\x00_modulesNub."s;

TEST(Identify, ExportedProgramsOfEachLayout) {
  EXPECT_EQ(of(testing::smallArchive(testing::smallProgram())).kind, FileKind::ExportedProgram);
  EXPECT_THAT(of(testing::smallArchive("{}")).detail, HasSubstr("layout C, 1 model"));
  const std::string flat =
      ZipWriter().add("serialized_exported_program.json", "{}").add("version", "8.2").finish();
  EXPECT_EQ(of(flat).kind, FileKind::ExportedProgram);
  EXPECT_THAT(of(flat).detail, HasSubstr("layout A"));
  const std::string blobs = ZipWriter()
                                .add("m/archive_format", "pt2")
                                .add("m/models/a.json", "{}")
                                .add("m/models/b.json", "{}")
                                .add("m/data/weights/a.pt", "")
                                .finish();
  EXPECT_THAT(of(blobs).detail, HasSubstr("layout B, 2 models"));
}

TEST(Identify, CompiledPackages) {
  const std::string alone =
      ZipWriter().add("m/data/aotinductor/net/x.so", "").add("m/archive_format", "pt2").finish();
  EXPECT_EQ(of(alone).kind, FileKind::AotInductorPackage);
  EXPECT_THAT(of(alone).detail, HasSubstr("no graph to analyse"));
  EXPECT_THAT(of(alone).remedy, HasSubstr("torch.export.save"));
  const std::string beside = ZipWriter()
                                 .add("m/data/aotinductor/net/x.so", "")
                                 .add("m/models/model.json", "{}")
                                 .add("m/archive_format", "pt2")
                                 .finish();
  EXPECT_EQ(of(beside).kind, FileKind::ExportedProgram);
  EXPECT_THAT(of(beside).detail, HasSubstr("beside 1 compiled package"));
}

TEST(Identify, OtherZips) {
  EXPECT_EQ(of(ZipWriter().add("m/constants.pkl", "").add("m/code/__torch__.py", "").finish()).kind,
            FileKind::TorchScript);
  EXPECT_THAT(of(ZipWriter()
                     .add("m/constants.pkl", "")
                     .add("m/code/a.py", "")
                     .add("m/code/b.py", "")
                     .finish())
                  .detail,
              HasSubstr("2 code files"));
  EXPECT_EQ(of(ZipWriter().add("m/model.json", "").add("m/tensors/0", "").finish()).kind,
            FileKind::TorchScript);
  EXPECT_EQ(of(ZipWriter().add("m/.data/extern_modules", "").finish()).kind,
            FileKind::TorchPackage);
  EXPECT_EQ(of(ZipWriter().add("readme.txt", "x").finish()).kind, FileKind::Unknown);
  const Identification saved = of(ZipWriter().add("m/data.pkl", kStateDict).finish());
  EXPECT_EQ(saved.kind, FileKind::TorchSave);
  EXPECT_THAT(saved.detail, HasSubstr("of 2 tensors, no program"));
  EXPECT_THAT(saved.remedy, HasSubstr("load_state_dict"));
  const Identification module = of(ZipWriter().add("m/data.pkl", kModule).finish());
  EXPECT_EQ(module.kind, FileKind::PickledModule);
  EXPECT_THAT(module.detail, HasSubstr("__main__.Net"));
}

TEST(Identify, DamagedZips) {
  const std::string whole = testing::smallArchive("{}");
  EXPECT_EQ(of(whole.substr(0, whole.size() - 5)).kind, FileKind::Damaged);
  EXPECT_THAT(of(whole.substr(0, whole.size() / 2)).detail, HasSubstr("cut off"));
  EXPECT_EQ(of(ZipWriter().add("m/archive_format", "pt2").finish()).kind, FileKind::Damaged);
}

TEST(Identify, MagicNumbers) {
  EXPECT_EQ(of("\x18\0\0\0PTMF\0\0\0\0"s).kind, FileKind::MobileFlatbuffer);
  EXPECT_EQ(of("PK\x03\x04PTMF\0\0\0\0"s).kind, FileKind::MobileFlatbuffer);
  EXPECT_EQ(of("\x20\0\0\0ET12\0\0\0\0"s).kind, FileKind::ExecuTorch);
  EXPECT_EQ(of("\x7f"
               "ELF\x02\x01\x01\0\0\0"s)
                .kind,
            FileKind::Unknown);
  EXPECT_THAT(of("GGUF\x03\0\0\0"s).detail, HasSubstr("GGUF"));
}

TEST(Identify, Pickles) {
  const std::string magic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
  const std::string protocol = "\x80\x02M\xe9\x03.";
  const std::string system = "\x80\x02}q\x00."s;
  const Identification legacy = of(magic + protocol + system + kStateDict + "rest");
  EXPECT_EQ(legacy.kind, FileKind::TorchSave);
  EXPECT_THAT(legacy.detail, HasSubstr("of 2 tensors"));
  EXPECT_EQ(of(magic + protocol + system + kModule).kind, FileKind::PickledModule);
  EXPECT_EQ(of(magic + protocol).kind, FileKind::Damaged);
  EXPECT_EQ(of("\x80\x04}\x94."s).kind, FileKind::Pickle);
  EXPECT_THAT(of("\x80\x04}\x94"s).detail, HasSubstr("cut off"));
}

TEST(Identify, LegacyTar) {
  std::string tar(1024, '\0');
  tar.replace(0, 8, "storages");
  tar.replace(257, 5, "ustar");
  EXPECT_EQ(of(tar).kind, FileKind::TorchSave);
  tar.replace(0, 8, "whatever");
  EXPECT_EQ(of(tar).kind, FileKind::Unknown);
}

TEST(Identify, Safetensors) {
  const auto file = [](std::string_view header) {
    return std::string(1, static_cast<char>(header.size())) + std::string(7, '\0') +
           std::string(header);
  };
  const Identification two = of(file(R"({"a":{},"b":{},"__metadata__":{}})"));
  EXPECT_EQ(two.kind, FileKind::Safetensors);
  EXPECT_THAT(two.detail, HasSubstr("2 tensors"));
  EXPECT_THAT(of(file(R"({"a":)")).detail, HasSubstr("damaged header"));
  EXPECT_THAT(of("\xff\0\0\0\0\0\0\0{\"a\":1}"s).detail, HasSubstr("claims 255 bytes"));
}

TEST(Identify, Onnx) {
  EXPECT_EQ(of("\x08\x09\x12\x07pytorch\x3a\x04\x0a\x02\x0a\x00\x42\x02\x10\x11"s).kind,
            FileKind::Onnx);
  EXPECT_EQ(of("\x08\x09\x12\x07pytorch\x7a\x04\x0a\x02\x0a\x00"s).kind,
            FileKind::Unknown);  // field 15 is not ONNX
  EXPECT_EQ(of("\x08\x00\x12\x01p"s).kind, FileKind::Unknown);
}

TEST(Identify, TextEmptyAndRandom) {
  EXPECT_EQ(of("").kind, FileKind::Empty);
  EXPECT_EQ(of("import torch\n").kind, FileKind::Text);
  EXPECT_EQ(of("Gr\xc3\xbc\xc3\x9f"
               "e\n")
                .kind,
            FileKind::Text);
  EXPECT_THAT(of("version https://git-lfs.github.com/spec/v1\noid sha256:0\n").detail,
              HasSubstr("LFS"));
  EXPECT_THAT(of("<!DOCTYPE html><html>").detail, HasSubstr("HTML"));
  EXPECT_EQ(of("\x01\xfe\x9c\x00\x00random"s).kind, FileKind::Unknown);
}

TEST(Identify, Folders) {
  const std::filesystem::path root =
      std::filesystem::path(::testing::TempDir()) / "identify_folders";
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root / "hf");
  std::filesystem::create_directories(root / "other");
  std::ofstream(root / "hf" / "config.json") << "{}";
  std::ofstream(root / "hf" / "model.safetensors") << "x";
  std::ofstream(root / "other" / "a.pt2") << "x";
  EXPECT_EQ(identify((root / "hf").string())->kind, FileKind::HfFolder);
  EXPECT_THAT(identify((root / "hf").string())->remedy, HasSubstr("from_pretrained"));
  EXPECT_EQ(identify((root / "other").string())->kind, FileKind::Unknown);
  EXPECT_THAT(identify((root / "other").string())->detail, HasSubstr("1 file named *.pt2"));
  EXPECT_FALSE(identify((root / "absent").string()));
  EXPECT_FALSE(identify("/dev/null"));
}

TEST(PickleWalk, StepsOverOpcodesOnly) {
  const PickleWalk walk = walkPickle(kStateDict);
  EXPECT_TRUE(walk.valid);
  EXPECT_EQ(walk.size, kStateDict.size());
  EXPECT_TRUE(walk.startsWithGlobal);
  EXPECT_EQ(walk.firstGlobal, "collections.OrderedDict");
  EXPECT_THAT(walk.globals,
              ::testing::ElementsAre("collections.OrderedDict", "torch._utils._rebuild_tensor_v2",
                                     "torch.FloatStorage"));
  EXPECT_FALSE(walkPickle(kStateDict.substr(0, 40)).valid);
  EXPECT_FALSE(walkPickle("\xff").valid);
  EXPECT_FALSE(walkPickle("X\xff\xff\xff\xff").valid);
}

}  // namespace
}  // namespace neuroncheck::scanner
