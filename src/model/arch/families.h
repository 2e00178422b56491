// The families, one line each; registry.cc lists them, everything else goes through architecture.h.
#pragma once

#include "model/arch/architecture.h"

namespace vitro {

extern const Architecture kGpt1;
extern const Architecture kGpt2;
extern const Architecture kGptNeo;
extern const Architecture kGptJ;
extern const Architecture kGptNeox;
extern const Architecture kBloom;
extern const Architecture kOpt;
extern const Architecture kMpt;
extern const Architecture kFalcon;
extern const Architecture kLlama;
extern const Architecture kStablelm;
extern const Architecture kStarcoder2;
extern const Architecture kPhi;
extern const Architecture kPhi3;
extern const Architecture kQwen2;
extern const Architecture kQwen3;
extern const Architecture kGemma;
extern const Architecture kGemma2;
extern const Architecture kGemma3;
extern const Architecture kSmolLm3;
extern const Architecture kGranite;
extern const Architecture kOlmo2;
extern const Architecture kGlm;
extern const Architecture kGlm4;
extern const Architecture kCohere;
extern const Architecture kMixtral;
extern const Architecture kDeepseek2;
extern const Architecture kDeepseek3;
extern const Architecture kQwen2Moe;
extern const Architecture kQwen3Moe;
extern const Architecture kOlmoe;
extern const Architecture kGptOss;
extern const Architecture kPhiMoe;
extern const Architecture kGlm4Moe;
extern const Architecture kT5;
extern const Architecture kBart;
extern const Architecture kBert;
extern const Architecture kRoberta;
extern const Architecture kDistilBert;

}  // namespace vitro
