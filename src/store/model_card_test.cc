#include "store/model_card.h"

#include <gtest/gtest.h>

namespace vitro {
namespace {

TEST(ModelCard, PlainForms) {
  EXPECT_EQ(license_of_card("---\nlanguage: en\nlicense: apache-2.0\ntags:\n- x\n---\n# Model\n"), "apache-2.0");
  EXPECT_EQ(license_of_card("---\r\nlicense: mit\r\n---\r\n"), "mit");
  EXPECT_EQ(license_of_card("\xEF\xBB\xBF---\nlicense: \"mit\" # a remark\n---\n"), "mit");
  EXPECT_EQ(license_of_card("---\nlicense:\n- cc-by-4.0\n- mit\n---\n"), "cc-by-4.0");
  EXPECT_EQ(license_of_card("---\nlicense: [mit, apache-2.0]\n---\n"), "mit");
}

TEST(ModelCard, OtherSaysItsName) {
  EXPECT_EQ(license_of_card("---\nlicense: other\nlicense_name: qwen\nlicense_link: LICENSE\n---\n"), "qwen (LICENSE)");
  EXPECT_EQ(license_of_card("---\nlicense: other\n---\n"), "other");
}

TEST(ModelCard, NothingIsTold) {
  for (const char* text : {"", "---", "---\n", "# Model\nlicense: mit\n", "---\nlicense: mit\n",
                           "---\n---\nlicense: mit\n", "---\n  license: mit\n---\n", "---\nlicense_x: mit\n---\n",
                           "---\nlicense:\n---\n", "---\nlicense:\ntags: x\n---\n"}) {
    EXPECT_EQ(license_of_card(text), "") << text;
  }
}

TEST(ModelCard, HostileCards) {
  const std::string value(100000, 'x');
  EXPECT_LE(license_of_card("---\nlicense: " + value.substr(0, 1000) + "\n---\n").size(), 200U);
  EXPECT_EQ(license_of_card("---\nlicense: " + value + "\n---\n"), "");  // longer than any front matter
  EXPECT_EQ(license_of_card("---\nlicense: a\x1b[2Jb\x7f\n---\n"), "a[2Jb");
}

}  // namespace
}  // namespace vitro
