// SPDX-License-Identifier: Apache-2.0
#include "report/terminal_page.h"

#include <algorithm>
#include <ostream>

#include "report/text.h"

namespace neuroncheck::report {

Ink inkOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::Ready:
      return Ink::Good;
    case Verdict::Blocked:
      return Ink::Bad;
    case Verdict::ReadyUnconfirmed:
    case Verdict::RunsWithFallback:
    case Verdict::Unknown:
      break;
  }
  return Ink::Warning;
}

Ink inkOf(Claim claim) { return inkOf(verdictOf(claim, true)); }

Ink inkOf(Severity severity) {
  if (severity == Severity::Error) {
    return Ink::Bad;
  }
  return severity == Severity::Warning ? Ink::Warning : Ink::Plain;
}

TerminalPage::TerminalPage(std::ostream& out, const Style& style)
    : out_(out), style_(style), width_(std::max<std::size_t>(style.width, 60)) {}

std::string TerminalPage::inked(Ink ink, std::string_view text) const {
  if (!style_.color || ink == Ink::Plain) {
    return std::string(text);
  }
  std::string_view code;
  switch (ink) {
    case Ink::Bold:
      code = "\x1b[1m";
      break;
    case Ink::Dim:
      code = "\x1b[2m";
      break;
    case Ink::Good:
      code = "\x1b[32m";
      break;
    case Ink::Warning:
      code = "\x1b[33m";
      break;
    case Ink::Bad:
      code = "\x1b[31m";
      break;
    case Ink::Plain:
      break;
  }
  return std::string(code) + std::string(text) + "\x1b[0m";
}

void TerminalPage::blank() { out_ << '\n'; }

void TerminalPage::heading(std::string_view text) {
  blank();
  line(inked(Ink::Bold, text));
}

void TerminalPage::line(std::string_view text) {
  while (text.ends_with(' ')) {
    text.remove_suffix(1);
  }
  out_ << text << '\n';
}

void TerminalPage::paragraph(std::size_t indent, std::string_view text, std::size_t hanging) {
  bool first = true;
  for (const std::string& part : wrapped(text, width_ - indent - hanging)) {
    line(std::string(indent + (first ? 0 : hanging), ' ') + part);
    first = false;
  }
}

void TerminalPage::field(std::string_view label, std::string_view text, std::size_t labelWidth) {
  std::string before = "  " + padded(label, labelWidth);
  for (const std::string& part : wrapped(text, width_ - before.size())) {
    line(before + part);
    before.assign(before.size(), ' ');
  }
}

}  // namespace neuroncheck::report
