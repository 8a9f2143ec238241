// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <cstdint>

#include <fmt/format.h>

namespace neuroncheck::report {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  ///< 0: the bytes here are no UTF-8
};

CodePoint decode(std::string_view text) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned first = byte(0);
  if (first < 0x80) {
    return {first, 1};
  }
  const std::size_t length = first >= 0xF0 ? 4 : (first >= 0xE0 ? 3 : 2);
  if (first < 0xC2 || first > 0xF4 || text.size() < length) {
    return {};
  }
  std::uint32_t value = first & (0xFFU >> (length + 1));
  for (std::size_t index = 1; index < length; ++index) {
    if ((byte(index) & 0xC0U) != 0x80U) {
      return {};
    }
    value = (value << 6U) | (byte(index) & 0x3FU);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  return value < kSmallest[length] || value > 0x10FFFF || surrogate ? CodePoint{}
                                                                    : CodePoint{value, length};
}

/// Control characters, and marks that reorder or hide what stands around them.
bool isUnsafe(std::uint32_t value) {
  return value < 0x20 || (value >= 0x7F && value <= 0x9F) || (value >= 0x200B && value <= 0x200F) ||
         (value >= 0x2028 && value <= 0x202E) || (value >= 0x2060 && value <= 0x206F) ||
         value == 0xFEFF || (value >= 0xE0000 && value <= 0xE007F);
}

/// Byte index after `count` code points.
std::size_t byteAfter(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; count > 0 && at < text.size(); --count) {
    const CodePoint point = decode(text.substr(at));
    at += point.bytes == 0 ? 1 : point.bytes;
  }
  return at;
}

constexpr std::string_view kDots = "...";

void wrapLine(std::string_view line, std::size_t width, std::vector<std::string>& out) {
  std::string current;
  const auto flush = [&] {
    out.push_back(std::move(current));
    current.clear();
  };
  while (!line.empty()) {
    const std::size_t blank = line.find(' ');
    std::string_view word = line.substr(0, blank);
    line = blank == std::string_view::npos ? std::string_view() : line.substr(blank + 1);
    if (word.empty()) {
      continue;
    }
    if (!current.empty() && columns(current) + 1 + columns(word) > width) {
      flush();
    }
    while (columns(word) > width) {
      const std::size_t cut = byteAfter(word, width);
      out.emplace_back(word.substr(0, cut));
      word.remove_prefix(cut);
    }
    current += current.empty() ? "" : " ";
    current += word;
  }
  if (!current.empty()) {
    flush();
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode(text);
    if (point.bytes == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
      text.remove_prefix(1);
      continue;
    }
    if (point.value == '\n') {
      out += "\\n";
    } else if (!isUnsafe(point.value)) {
      out += text.substr(0, point.bytes);
    } else if (point.value <= 0xFF) {
      out += fmt::format("\\x{:02x}", point.value);
    } else {
      out += fmt::format("\\u{:04x}", point.value);
    }
    text.remove_prefix(point.bytes);
  }
  return out;
}

std::string markdown(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '@':
        // A name with @ would notify a person of that name in a pull request.
        out += "&#64;";
        break;
      case '|':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '#':
      case '~':
      case '\\':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  }
  return out;
}

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) {
    count += (static_cast<unsigned char>(c) & 0xC0U) == 0x80U ? 0 : 1;
  }
  return count;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (columns(text) <= width) {
    return std::string(text);
  }
  if (width <= kDots.size()) {
    return std::string(kDots.substr(0, width));
  }
  std::string_view kept = text.substr(0, byteAfter(text, width - kDots.size()));
  while (kept.ends_with(' ')) {
    kept.remove_suffix(1);
  }
  return std::string(kept) + std::string(kDots);
}

std::string shortenedLeft(std::string_view text, std::size_t width) {
  const std::size_t total = columns(text);
  if (total <= width) {
    return std::string(text);
  }
  if (width <= kDots.size()) {
    return std::string(kDots.substr(0, width));
  }
  return std::string(kDots) +
         std::string(text.substr(byteAfter(text, total - width + kDots.size())));
}

std::string padded(std::string_view text, std::size_t width) {
  const std::size_t have = columns(text);
  return std::string(text) + std::string(have < width ? width - have : 0, ' ');
}

std::string paddedLeft(std::string_view text, std::size_t width) {
  const std::size_t have = columns(text);
  return std::string(have < width ? width - have : 0, ' ') + std::string(text);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string line = printable(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.starts_with("  ")) {
      out.push_back(line);
    } else if (line.empty()) {
      out.emplace_back();
    } else {
      wrapLine(line, width, out);
    }
  }
  return out;
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace neuroncheck::report
