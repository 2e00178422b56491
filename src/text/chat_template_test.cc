// Small templates that use every construct, against jinja2 (tests/data/text/templates.jsonl, written by
// tools/make_template_expectations.py); then what jinja2 does not know: places of errors, origins, limits.
#include "text/chat_template.h"

#include "text/jinja/templates_test_util.h"

namespace vitro {
namespace {

using testing::lines_of;
using testing::parsed;
using testing::repo_path;
using testing::request_of;
using testing::string_of;
using testing::tokens_of;

Result<RenderedChat> render(std::string_view source, ChatRequest request, const ChatLimits& limits = {}) {
  const Value::Object tokens{{"bos_token", Value(std::string("<s>"))}};
  Result<ChatTemplate> chat_template = ChatTemplate::compile(source, tokens, limits);
  if (!chat_template) return tl::unexpected<Error>(chat_template.error());
  return chat_template->render(request);
}

ChatRequest request_with(std::string_view messages) {
  ChatRequest request;
  request.messages = parsed(messages);
  return request;
}

ChatRequest small_request() { return request_with(R"([{"role":"user","content":"Hi"}])"); }

std::string error_of(std::string_view source, const ChatLimits& limits = {}) {
  const Result<RenderedChat> chat = render(source, small_request(), limits);
  return chat ? "no error: " + chat->text.substr(0, 100) : chat.error().message;
}

/// The text with what came from the request in brackets.
std::string marked(const RenderedChat& chat) {
  std::string out;
  size_t pos = 0;
  for (const ByteRange& range : chat.from_request) {
    out += chat.text.substr(pos, range.begin - pos) + "[" + chat.text.substr(range.begin, range.size()) + "]";
    pos = range.end;
  }
  return out + chat.text.substr(pos);
}

std::string marked_text(std::string_view source, ChatRequest request) {
  const Result<RenderedChat> chat = render(source, std::move(request));
  return chat ? marked(*chat) : chat.error().message;
}

TEST(ChatTemplate, EveryConstructIsThatOfJinja) {
  const std::vector<Value> lines = lines_of(repo_path("tests/data/text/templates.jsonl"));
  ASSERT_GT(lines.size(), 200U);
  ChatRequest request = request_of(lines[0], string_of(lines[0], "now"));
  request.is_prepared = false;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::string source = string_of(lines[i], "template");
    const Result<ChatTemplate> compiled = ChatTemplate::compile(source, tokens_of(lines[0]));
    const Result<RenderedChat> chat =
        compiled ? compiled->render(request) : Result<RenderedChat>(tl::unexpected<Error>(compiled.error()));
    if (const Value* text = lines[i].find("text")) {
      EXPECT_EQ(chat ? chat->text : chat.error().message, *text->as_string()) << source;
    } else {
      EXPECT_FALSE(chat) << source << " gives " << chat->text << ", expected " << string_of(lines[i], "error");
    }
  }
}

TEST(ChatTemplate, ErrorsNameThePlaceAndSayWhatJinjaSays) {
  EXPECT_EQ(error_of("a\n  {{ raise_exception('Only users, please') }}"), "line 2, column 21: Only users, please");
  EXPECT_EQ(error_of("{% if yes %}\n\n{{ x }}"),
            "line 3, column 8: Unexpected end of template. Jinja was looking for the following tags: 'elif' or 'else' "
            "or 'endif'. The innermost block that needs to be closed is 'if'.");
  EXPECT_EQ(error_of("x {{ messages[3].role }}"), "line 1, column 17: list object has no element 3");
  EXPECT_EQ(error_of("{{ nope.x }}"), "line 1, column 8: 'nope' is undefined");
  EXPECT_EQ(error_of("{{ 'a' + none }}"), "line 1, column 8: can only concatenate str (not \"NoneType\") to str");
  EXPECT_EQ(error_of("\n\n{% nosuch %}"), "line 3, column 4: Encountered unknown tag 'nosuch'.");
  EXPECT_EQ(error_of("{{ messages.append(1) }}"),
            "line 1, column 19: access to attribute 'append' of 'list' object is unsafe.");
  EXPECT_EQ(error_of("{{ 9223372036854775807 + 1 }}"),
            "line 1, column 24: integers of more than 64 bits are not supported");
}

TEST(ChatTemplate, WhatCannotBeDoneIsRefusedByName) {
  for (const char* source : {"{% include 'x' %}", "{% extends 'x' %}", "{% import 'x' as y %}", "{{ lipsum() }}",
                             "{{ [1]|random }}", "{{ 'a'.encode() }}", "{% autoescape true %}{% endautoescape %}"}) {
    const Result<RenderedChat> chat = render(source, small_request());
    ASSERT_FALSE(chat) << source;
    EXPECT_EQ(chat.error().code, ErrorCode::kUnsupported) << chat.error().message;
  }
}

TEST(ChatTemplate, BytesOfTheRequestKeepTheirMark) {
  const auto request = [] { return request_with(R"([{"role":"user","content":" <s>Hé, b "}])"); };
  const std::pair<const char*, const char*> cases[] = {
      {"{{ bos_token }}{{ messages[0].content }}|", "<s>[ <s>Hé, b ]|"},
      {"{{ '<' + messages[0].content|trim + '>' }}", "<[<s>Hé, b]>"},
      {"{{ messages[0].content[1:6] ~ 'x' }}", "[<s>Hé]x"},
      {"{{ messages[0].content|trim|upper }}", "[<S>HÉ, B]"},
      {"{{ messages[0].content.split(',')|join('|') }}", "[ <s>Hé]|[ b ]"},
      {"{{ messages[0].content|replace('<s>', '</s>') }}", "[ ]</s>[Hé, b ]"},
      {"{{ 'a-b'|replace('-', messages[0].content[1:4]) }}", "a[<s>]b"},
      {"{{ messages[0].content[1:4]|replace('', '-') }}", "-[<]-[s]-[>]-"},
      {"{{ messages|tojson }}", R"([{"[role]": "user", "[content]": "[ <s>Hé, b ]"}])"},
      {"{{ messages[0].content|tojson(ensure_ascii=true) }}", R"("[ <s>H\u00e9, b ]")"},
      {"{{ '%s|%5s' % (messages[0].content[1:4], 'x') }}", "[<s>]|    x"},
      {"{{ '{}|{:>5}'.format('x', messages[0].content[1:4]) }}", "x|  [<s>]"},
      {"{% set x %}a{{ messages[0].content }}b{% endset %}{{ x }}", "a[ <s>Hé, b ]b"},
      {"{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(messages[0].content|trim) }}", "<[<s>Hé, b]>"},
      {"{% for c in messages[0].content[1:3] %}{{ c }}.{% endfor %}", "[<].[s]."},
      {"{{ messages[0] }}", "{'[role]': 'user', '[content]': '[ <s>Hé, b ]'}"},
      {"{{ messages[0].content|list|join }}", "[ <s>Hé, b ]"},
      {"{{ messages[0].content|e }}", "[ &lt;s&gt;Hé, b ]"},
      {"{{ messages[0].content|reverse }}", "[ b ,éH>s< ]"},
      {"{{ '<|' + messages[0].role + '|>' }}", "<|user|>"},
  };
  for (const auto& [source, expected] : cases) EXPECT_EQ(marked_text(source, request()), expected) << source;
}

TEST(ChatTemplate, OnlyRolesThatAreWordsGoUnmarked) {
  EXPECT_EQ(marked_text("{{ messages[0].role }}", request_with(R"([{"role":"<s>","content":""}])")), "[<s>]");
  // Deeper inside, a role is what a model or a tool made of it.
  EXPECT_EQ(marked_text("{{ '<|' + messages[0].call.role + '|>' }}",
                        request_with(R"([{"role":"user","content":"","call":{"role":"im_end"}}])")),
            "<|[im_end]|>");
}

TEST(ChatTemplate, GeneratedTextIsKnown) {
  ChatRequest request = request_with(R"([{"role":"user","content":"Hi"},{"role":"assistant","content":"Yo"}])");
  const Result<RenderedChat> chat = render(
      "{% for m in messages %}{% if m.role == 'user' %}U{{ m.content }}{% else %}A{% generation %}{{ m.content }}.{% "
      "endgeneration %}{% endif %}{% endfor %}!",
      request);
  ASSERT_TRUE(chat) << chat.error().message;
  EXPECT_EQ(chat->text, "UHiAYo.!");
  EXPECT_EQ(chat->generated, (std::vector<ByteRange>{{4, 7}}));
}

TEST(ChatTemplate, AFinalMessageIsContinued) {
  const auto continued = [](std::string_view source, std::string_view content) {
    ChatRequest request =
        request_with(R"([{"role":"user","content":"Hi"},{"role":"assistant","content":)" + std::string(content) + "}]");
    request.continue_final_message = true;
    return marked_text(source, request);
  };
  const std::string_view plain = "{% for m in messages %}<{{ m.content }}>{% endfor %}end";
  const std::string_view trimming = "{% for m in messages %}<{{ m.content|trim }}>{% endfor %}end";
  EXPECT_EQ(continued(plain, R"("Sure, ")"), "<[Hi]><[Sure, ]");
  EXPECT_EQ(continued(trimming, R"("Sure, ")"), "<[Hi]><[Sure,]");
  EXPECT_NE(continued("{{ messages[0].content }}", R"("Sure")").find("does not appear"), std::string::npos);
  EXPECT_NE(continued("{{ messages[0].role }}", R"("Sure")").find("never reads content"), std::string::npos);
  EXPECT_NE(continued(plain, "null").find("no content"), std::string::npos);
  const std::string_view parts =
      "{% for m in messages %}{% if m.content is string %}<{{ m.content }}>{% else %}{% for p in m.content %}({{ "
      "p.text "
      "}}){% endfor %}{% endif %}{% endfor %}end";
  EXPECT_EQ(continued(parts, R"([{"type":"text","text":"a"},{"type":"text","text":"b"}])"), "<[Hi]>([a])([b]");
}

TEST(ChatTemplate, MessagesArePreparedAsTransformersDoes) {
  ChatRequest request = request_with(R"([{"role":"user","content":null,"thinking":"hm"}])");
  const std::string_view source = "{{ messages[0].content is defined }} {{ messages[0].reasoning_content }}";
  EXPECT_EQ(marked_text(source, request), "False [hm]");
  request.is_prepared = false;
  EXPECT_EQ(marked_text(source, request), "True ");
  request = request_with("[]");
  EXPECT_NE(marked_text("x", request).find("empty conversation"), std::string::npos);
  request.is_prepared = false;
  EXPECT_EQ(marked_text("x", request), "x");
}

TEST(ChatTemplate, VariablesOfTheRequestWinOverSpecialTokens) {
  ChatRequest request = small_request();
  request.variables = {{"bos_token", Value(std::string("B"))}, {"enable_thinking", Value(false)}};
  EXPECT_EQ(marked_text("{{ bos_token }}{{ enable_thinking }}{{ add_generation_prompt }}{{ tools }}", request),
            "[B]FalseFalseNone");
}

TEST(ChatTemplate, HostileTemplatesEnd) {
  const char* const sources[] = {
      "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}{% "
      "endfor %}",
      "{{ range(10**9) }}",
      "{{ 'x' * 10**12 }}",
      "{{ [1] * 10**12 }}",
      "{{ 'x'|center(10**12) }}",
      "{{ 'x'.zfill(10**15) }}",
      "{{ '%999999999d' % 1 }}",
      "{{ '{:>999999999}'.format(1) }}",
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      "{% set ns = namespace(l=[]) %}{% for i in range(1000) %}{% set ns.l = [ns.l] %}{% endfor %}",
      "{% set ns = namespace(l=[1]) %}{% for i in range(90) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}",
      "{% set ns = namespace(l=[1]) %}{% for i in range(90) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l|tojson "
      "}}",
      "{% set ns = namespace(a=[1], b=[1]) %}{% for i in range(90) %}{% set ns.a = [ns.a, ns.a] %}{% set ns.b = [ns.b, "
      "ns.b] %}{% endfor %}{{ ns.a == ns.b }}",
      "{% set ns = namespace(s='ab') %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
      "{% set ns = namespace(s='ab') %}{% for i in range(99) %}{% set ns.s = ns.s|replace('a', 'aaaa') %}{% endfor %}",
      "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}",
      "{% for i in range(99999) %}{% for j in range(99999) %}{{ 'aaaaaaaaaaaaaaaaaaaaaaaaaa' }}{% endfor %}{% endfor "
      "%}",
      "{% set a = 'a' * 1000000 %}{% for i in range(99999) %}{{ ('b' + a) in a }}{% endfor %}",
      "{% set a = 'a' * 1000000 %}{% for i in range(99999) %}{{ a.rfind('a' * 500000 + 'b') }}{% endfor %}",
  };
  const ChatLimits limits{.max_steps = 1 << 20, .max_bytes = 4 << 20, .max_depth = 50};
  for (const char* source : sources) {
    const Result<RenderedChat> chat = render(source, small_request(), limits);
    ASSERT_FALSE(chat) << source;
    EXPECT_EQ(chat.error().code, ErrorCode::kInvalidArgument) << chat.error().message;
  }
}

TEST(ChatTemplate, DeepSourcesAreRefused) {
  const auto repeated = [](std::string_view piece, size_t n) {
    std::string out;
    for (size_t i = 0; i < n; ++i) out += piece;
    return out;
  };
  const size_t n = 100000;
  for (const std::string& source :
       {"{{ " + repeated("(", n), "{{ " + repeated("[", n), "{{ " + repeated("not ", n) + "1 }}",
        "{{ " + repeated("-", n) + "1 }}", "{{ 1" + repeated(" + 1", n) + " }}", "{{ 1" + repeated("|abs", n) + " }}",
        "{{ x" + repeated(".a", n) + " }}", "{{ 1" + repeated(" if 1", n) + " }}", repeated("{% if 1 %}", n),
        repeated("{% for x in y %}", n), "{{ 1" + repeated(" if 1 else 1", n) + " }}"}) {
    const Result<ChatTemplate> compiled = ChatTemplate::compile(source, {});
    ASSERT_FALSE(compiled) << source.substr(0, 40);
    EXPECT_EQ(compiled.error().code, ErrorCode::kCorrupt) << compiled.error().message;
  }
  EXPECT_TRUE(
      ChatTemplate::compile("{% if 1 %}{% endif %}" + repeated("{% if 0 %}{% elif 1 %}{% endif %}", 10000), {}));
}

TEST(ChatTemplate, NamespacesThatHoldThemselvesLeaveNoMemory) {
  const std::string_view source =
      "{% set ns = namespace() %}{% set ns.me = ns %}{% macro m() %}{{ ns.f }}{% endmacro %}{% set ns.f = 1 %}{{ m() "
      "}}{% for x in [1, 2] %}{% set ns.loop = loop %}{{ loop.changed(loop) }}{% endfor %}{% macro c() %}{% set "
      "ns.caller = caller %}{% endmacro %}{% call c() %}{{ ns.x }}{% endcall %}";
  const Result<RenderedChat> chat = render(source, small_request());
  ASSERT_TRUE(chat) << chat.error().message;
  EXPECT_EQ(chat->text, "1TrueFalse");
}

TEST(ChatTemplate, EveryCycleLeavesNoMemory) {
  // Checked by the leak detector of the sanitizers.
  const char* const sources[] = {
      "{% for m in messages %}{{ loop.index }}{% endfor %}",
      "{% for m in messages if m.role %}{{ loop.index }}{% set ns = namespace(l=loop) %}{% endfor %}",
      "{% set ns = namespace() %}{% for a in [1] if a %}{% for b in [2] %}{% set ns.l = [loop, ns] %}{% endfor %}{% "
      "endfor %}",
      "{% for m in [[1], [2]] recursive %}{{ loop(m) if m is iterable }}{{ loop.index }}{% endfor %}",
      "{% set ns = namespace() %}{% for m in [1] recursive %}{% set ns.l = loop %}{{ loop.length }}{% endfor %}{{ "
      "ns.l([]) }}",
      "{% for m in messages %}{{ loop.index }}{{ raise_exception('stop') }}{% endfor %}",
      "{% macro m(x) %}{% for i in [1] %}{% set ns.l = loop %}{{ loop.last }}{{ m(x) }}{% endfor %}{% endmacro %}{% "
      "set ns = namespace() %}{{ m(ns) }}",
      "{% set ns = namespace() %}{% macro m(x) %}{% macro n() %}{{ x }}{{ n }}{% endmacro %}{% set ns.f = n %}{% "
      "endmacro %}{{ m(m) }}{{ m(ns.f) }}{{ ns.f() }}",
      "{% set ns = namespace() %}{% set ns.c = cycler(ns, 1) %}{% set ns.j = joiner(ns) %}{{ ns.c.next() }}",
      "{% for i in [1, 2] %}{{ loop.changed(loop, loop.changed, loop.cycle) }}{% endfor %}",
      "{% for i in [1, 2] %}{% macro m() %}{{ loop.index }}{% endmacro %}{{ m() }}{% break %}{% endfor %}",
      "{% block b %}{% for i in [1, 2] %}{% set f = loop %}{% call(x) caller() %}{{ f }}{% endcall %}{% endfor %}{% "
      "endblock %}",
  };
  for (const char* source : sources) {
    const Result<ChatTemplate> compiled = ChatTemplate::compile(source, {});
    ASSERT_TRUE(compiled) << source << compiled.error().message;
    static_cast<void>(compiled->render(small_request()));
  }
}

TEST(ChatTemplate, LongChainsOfValuesAreFreedWithoutDeepCalls) {
  const std::string begin =
      "{% set ns = namespace() %}{% macro m(x) %}{% macro n() %}{{ x }}{% endmacro %}{% set ns.x = n %}{% endmacro %}"
      "{% macro l(x) %}{% for i in [1] %}{% set ns.x = loop %}{% endfor %}{% endmacro %}{% for i in range(50000) %}";
  const std::pair<std::string, bool> steps[] = {
      {"{% set ns.x = namespace(x=ns.x) %}", true},
      {"{% for y in [ns.x] %}{% set ns.x = loop %}{% endfor %}", true},
      {"{{ m(ns.x) }}", true},
      {"{{ l(ns.x) }}", true},
      {"{% set ns.x = cycler(ns.x) %}", false},
      {"{% set ns.x = joiner(ns.x) %}", false},
      {"{% set ns.x = dict(x=ns.x).items() %}", false},
  };
  for (const auto& [step, is_done] : steps) {
    const Result<RenderedChat> chat = render(begin + step + "{% endfor %}{% set ns.x = 1 %}", small_request());
    EXPECT_EQ(chat.has_value(), is_done) << step << (chat ? "" : chat.error().message);
  }
}

// A loop over a long text may not take longer than its steps: whatever reads a text from end to end pays for it.
TEST(ChatTemplate, ReadingALongTextCostsSteps) {
  const ChatLimits limits{.max_steps = 1 << 18};
  const std::string begin = "{% set s = 'ab ' * 300000 %}{% for i in range(1000) %}{% set x = ";
  for (const char* reading : {"s.find('c')",
                              "s.rfind('c')",
                              "s.count('ab')",
                              "s.upper()",
                              "s.strip()",
                              "s.isalnum()",
                              "s.replace('c', 'd')",
                              "s.split('c')",
                              "s.splitlines()",
                              "s.partition('c')",
                              "s.swapcase()",
                              "'%s' % s",
                              "s | wordwrap(10)",
                              "s | wordcount",
                              "s | trim",
                              "s | tojson",
                              "s | urlencode",
                              "s | int",
                              "'c' in s",
                              "{s: 1}",
                              "s is upper"}) {
    const Result<RenderedChat> chat = render(begin + reading + " %}{% endfor %}", small_request(), limits);
    ASSERT_FALSE(chat) << reading;
    EXPECT_NE(chat.error().message.find("more than 262144 steps"), std::string::npos) << chat.error().message;
  }
}

TEST(ChatTemplate, WhatReadsNoTextCostsNone) {
  const ChatLimits limits{.max_steps = 1 << 18};
  const std::string begin = "{% set s = 'ab ' * 300000 %}{% for i in range(1000) %}{% set x = ";
  for (const char* asking : {"s is string", "s | length", "s.startswith('c')", "s | default('')", "s[7]", "s[3:9]"}) {
    const Result<RenderedChat> chat = render(begin + asking + " %}{% endfor %}", small_request(), limits);
    EXPECT_TRUE(chat) << asking << ": " << (chat ? "" : chat.error().message);
  }
}

TEST(ChatTemplate, AReplyIsBegunOrContinued) {
  ChatRequest request = small_request();
  request.add_generation_prompt = request.continue_final_message = true;
  const Result<RenderedChat> chat = render("{{ messages[0].content }}", request);
  ASSERT_FALSE(chat);
  EXPECT_NE(chat.error().message.find("cannot both be set"), std::string::npos);
}

TEST(ChatTemplate, ErrorsNameTheTemplate) {
  const auto broken = ChatTemplate::compile("{% if %}", {}, {}, "a.jinja");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message.find("a.jinja: line 1"), 0u) << broken.error().message;
  const auto raising = ChatTemplate::compile("{{ raise_exception('no') }}", {}, {}, "a.jinja").value();
  const Result<RenderedChat> chat = raising.render(small_request());
  ASSERT_FALSE(chat);
  EXPECT_EQ(chat.error().message.find("a.jinja: line 1"), 0u) << chat.error().message;
}

}  // namespace
}  // namespace vitro
