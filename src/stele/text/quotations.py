"""Parse brackets and quotation marks of every script, and recognise sentences that continue after a closing one.

Brackets open and close by their Unicode category (Ps, Pe). Quotation marks do not: German closes with the sign that
opens in English, Danish writes »…«, Finnish ”…”, and keyboards have "…". The white space around a sign shows whether it
opens or closes. If both sides or neither have letters (scripts without spaces, Korean particles), it closes an open
sign of its kind; otherwise its category decides (Pi, Pf).

A sentence may continue after a closing sign with a full stop before it. In scripts with case a small letter shows this
(`abbreviations.py`); in others a particle does, which follows the quotation directly (は, という, 라고, 的, అని), or a
verb of saying that ends a clause (他说。).
"""

import re
import unicodedata

LONGEST, LONGEST_WIDE = 200, 80  # most characters (Chinese, Japanese) in a pair that is not split
_FAMILIES = ('"＂“”„‟〝〞〟', "'＇‘’‚‛", "«»", "‹›", "﴾﴿")  # quotation marks that open and close one another
QUOTES = frozenset("".join(_FAMILIES))
_LEFT_ONLY = frozenset("“‘«‹")  # when they open, the sign on the right closes
_FREE_AFTER = frozenset(("", *".,;:!?…%)]}、。，．；：！？｡؟،؛।॥۔"))
_FREE_BEFORE = frozenset(("", *"([{¿¡—–-/（［｛"))
_FULL_STOPS = frozenset(".!?…")
_WIDE = re.compile("[\u3040-\u9fff]")
# of scripts with spaces
_LETTER = "[^\\W\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u9fff\uac00-\ud7a3]"
_APOSTROPHE = f"(?<={_LETTER})['’](?={_LETTER})"
GERSHAYIM = '(?<=[\u05d0-\u05ea])"(?=[\u05d0-\u05ea])'  # in a Hebrew abbreviation


def _families_and_roles() -> dict[str, tuple[str, str]]:
    """Maps each sign to (its family, its role): "(" if it opens, ")" if it closes, "" if it can do both."""
    signs: dict[str, tuple[str, str]] = {}
    opener = ""
    for code in range(0x10000):
        category = unicodedata.category(sign := chr(code))
        if category in ("Ps", "Pi"):
            opener = sign
            signs[sign] = opener, "("
        elif category in ("Pe", "Pf"):
            signs[sign] = opener, ")"
    signs |= {right: (left, ")") for left, right in ("[]", "{}", "［］", "｛｝")}
    return signs | {sign: (family, signs.get(sign, ("", ""))[1]) for family in _FAMILIES for sign in family}


_SIGNS = _families_and_roles()
OPENING = "".join(sign for sign, (_, role) in _SIGNS.items() if role != ")")
CLOSING = "".join(sign for sign, (_, role) in _SIGNS.items() if role != "(")
_ANY = re.compile(f"([{re.escape(''.join(_SIGNS))}])(?<!{_APOSTROPHE})(?<!{GERSHAYIM})")
_ANY_ASCII = re.compile(f"([\"'()\\[\\]{{}}])(?<!{_APOSTROPHE})")


_NUMBERS = {family: number for number, family in enumerate(dict.fromkeys(family for family, _ in _SIGNS.values()))}
_KINDS = {sign: (_NUMBERS[family], role, family in _FAMILIES) for sign, (family, role) in _SIGNS.items()}

Pair = tuple[int, int]  # text[start] opens what text[end - 1] closes


def split_at_signs(text: str) -> list[str]:
    """Splits a text into alternating text and signs; an apostrophe within a word is not a sign.

    >>> split_at_signs("He's (in)")
    ["He's ", '(', 'in', ')', '']
    """
    return (_ANY_ASCII if text.isascii() else _ANY).split(text)


def read_signs(text: str, parts: list[str]) -> tuple[list[Pair], dict[int, int]]:
    """Matches signs in linear time. Returns (the outermost pairs of at most LONGEST characters, in order; a map from
    each sign's position to that of the sign that it closes, to its own if it opens, to -1 if it closes nothing).

    >>> read_signs("He's (in)]", split_at_signs("He's (in)]"))
    ([(5, 9)], {5: 5, 8: 5, 9: -1})
    """
    places: dict[int, int] = {}
    pairs: list[Pair] = []
    opened: list[Pair] = []  # (family, place) of signs that wait for their partner
    waiting = [0] * len(_NUMBERS)  # number of open signs in each family
    last = [0] * len(_NUMBERS)  # where the last sign of each family opened
    place = -1
    for number in range(1, len(parts), 2):
        place += len(parts[number - 1]) + 1
        family, role, is_quote = _KINDS[parts[number]]
        if is_quote:
            closes = waiting[family] and text[last[family]] not in _LEFT_ONLY
            role = _role_of_quote(parts, number) or (")" if closes else role or "(")
            if role == "(" and waiting[family]:  # signs of a family do not nest: the open one was never closed
                _close(opened, waiting, family)
        if role == "(":
            places[place] = last[family] = place
            opened.append((family, place))
            waiting[family] += 1
        elif waiting[family]:
            places[place] = start = _close(opened, waiting, family)
            if place - start <= (LONGEST_WIDE if _WIDE.match(text, start + 1) else LONGEST):
                while pairs and pairs[-1][0] > start:
                    pairs.pop()
                pairs.append((start, place + 1))
        else:
            places[place] = -1
    return pairs, places


def _close(opened: list[Pair], waiting: list[int], family: int) -> int:
    """Closes the last open sign of a family and all signs opened since. Returns the position of that sign."""
    while True:
        last, start = opened.pop()
        waiting[last] -= 1
        if last == family:
            return start


def _role_of_quote(parts: list[str], number: int) -> str:
    """Role of a quotation mark by the white space around it and adjacent marks: "(", ")", or "" if undecided."""
    before, after = parts[number - 1][-1:], parts[number + 1][:1]
    near = number - 2
    while not before and near > 0:
        before = parts[near - 1][-1:] if parts[near] in QUOTES and near > number - 8 else parts[near]
        near -= 2
    near = number + 2
    while not after and near < len(parts):
        after = parts[near + 1][:1] if parts[near] in QUOTES and near < number + 8 else parts[near]
        near += 2
    free_before = before in _FREE_BEFORE or before == " "
    free_after = after in _FREE_AFTER or after == " "
    if free_before == free_after:
        return ")" if before in _FULL_STOPS and "\uac00" <= after <= "\ud7a3" else ""  # before a Korean particle
    return "(" if free_before else ")"


# --- what follows a closing sign ---
LABELS = "》〉】〗〕〙〛］｝}⟧⟩⟫⦆｠❳❩❫❭❯❱❵﹀︾︼︘︺﹞﹜"  # after titles, headings and notes: the sentence continues
_TITLES = "』"  # ends none in the middle of a sentence: 映画『谷の風!』主題歌
_STOPS = ".。．｡!！?？।॥৷|۔؟።፡။…"
_MARKS = '"“”„«»‘「」『』｢｣'
_LETTER_OR_VOWEL_SIGN = "[\\w\u0900-\u0903\u093a-\u0963\u0981-\u09fe]"  # \\w has no vowel signs
_JAPANESE = re.compile(
    """
      と(?!ころ|ても|にかく|もかく|りあえず|うとう|きどき|つぜん|りわけ|なり|もだち)
    | は(?![いじっやるたなげ]|ず[っか])
    | って | の(?!ち|ん[びき]) | を | が(?!んば|っか) | に(?!わか|こ|げ|ほん)
    | も(?!し|う|っと|ちろん|ともと|の[はがを]|はや)
    | で(?!も(?!な|の)|は、|すが|すから|きる|きれ)
    | へ(?!え|や) | や(?!は|が|っ|め|さ) | か(?!れ|つて|なり|らだ|ら、|わ|ん|え|くし)
    | から(?!だ) | まで | など | なんて | なんか | なら(?!ば|、) | だ(?!が|から|け|って|れ|ん) | です
    | ばかり | だけ(?!ど) | さえ | しか(?!し) | ほど | くらい | ぐらい | ごと | 等
    | より[も、] | および | 及び | ならびに
    """,
    re.X,
)
_CHINESE = re.compile(
    """
      [的地得之等吗呢吧嗎着著] | 是(?!的|啊|否|呀) | 云云 | 和 | 与 | 與 | 及 | 以及 | 或 | [为為][题題名]
    | 也(?![许許就有是正没沒不因可好]) | 作[结結答] | [为為](?:口[号號]|主[题題]|标[题題]|開頭|开头)
    | (?:開頭|开头|结尾|結尾)的
    | 一[词詞语語句书書文说說声聲类類话話曲歌片剧劇字]
    | [这這那](?:[个個句种種样樣本首部段番声聲幅张張类類话話]|一(?!天|年|次|刻))
    | [说說道问問答喊叫写寫称稱](?!明|服|法|起|路|理|题|題|案|号|呼)
    """,
    re.X,
)
_KOREAN = re.compile(
    "이?(?:라고|라는|라며|라면서|란|라니|라던|랬|나|냐고|냐는|자고|자는|다고|다는|다며|다면서)"
    "|이?라 (?:했|하|한|불)|하[고며는]|하였|했|며 |고 |등[의 ]"
)
# words that go on behind a quotation, each whole, or its beginning before *
_PARTICLES = {
    "am": "አለ አለች አሉ ሲል ስትል ሲሉ ብሎ ብላ ብለው በማለት የሚል የተባለ በሚል",
    "ar": """
        قال قالت يقول تقول أضاف أضافت صرح ذكر كتب سأل سألت أجاب رد هتف صاح صرخ أوضح أكد قائل* حسبما بحسب وفقا وفقًا كما
    """,
    "bn": "এর কে র এ বলে বলেন বললেন বলেছেন বলেছিলেন বলল নামে নামক লিখেছেন যোগ",
    "fa": "را که است بود می‌گوید گفت* پرسید افزود",
    "he": "אמר אמרה אומר שאל שאלה ענה ענתה השיב הוסיף הוסיפה כתב כתבה צעק קרא טען סיפר ציין הסביר הצהיר הודיע",
    "hi": "का की के को ने से में पर है था थी कहा कहते कहता कहकर पूछा बोला बोली लिखा नामक और तो भी जैसे",
    "hy": "ասաց հարցրեց պատասխանեց գրեց",
    "ka": "თქვა უთხრა ჰკითხა ამბობს უპასუხა დაამატა განაცხადა წერს",
    "km": "នេះ* គឺ* ដែល* របស់*",
    "kn": "ಎಂದ* ಎಂಬ* ಎನ್*",
    "ml": "എന്ന*",
    "mr": "असे असं अशी असा हे ही हा म्हणून म्हणाल* चा ची चे",
    "my": "ဟု* လို့* ဟူ* တဲ့* ဆို* ကို* သည်*",
    "ne": "भन* को का की ले लाई मा हो",
    "ta": "என்ற* என்ன* என்க* என்ப* என எனக்* எனத்* எனப்* எனவும்* எனும்*",
    "te": "అని* అంటూ* అన్న* అంటే* అనే* అంట*",
    "th": "ของ* เป็น* คือ* ที่* ว่า* กล่าว* พูด* ถาม* ตอบ* เขากล่าว* เธอกล่าว* และ*",
    "ur": "کا کی کے کو نے سے میں پر ہے تھا کہا کہہ کہتے پوچھا",
}
# verbs of saying, or their beginnings, that end a clause behind a quotation: 他说。
_SAYING = {
    "am": "አለ አለች አሉ ብሏል ብለዋል ተናግሯል ጠየቀ ጠየቀች",
    "bn": "বলেন বললেন বলেছেন বলেছিলেন বলল জানান লিখেছেন",
    "en": """
        said says asked asks added adds replied answered wrote writes reported reports shouted cried tweeted continued
        explained insisted joked recalled noted warned declared announced exclaimed whispered yelled screamed
    """,
    "fa": "گفت گفتند پرسید افزود می‌گوید",
    "fi": "sanoi sanoo kysyi kysyy kertoi kertoo vastasi lisäsi kirjoitti huusi uutisoi",
    "hi": "कहा पूछा बोला बोली बोले बताया लिखा जोड़ा",
    "ja": """
        言* 云* 語* 話* 述べ* 答え* 叫* 尋ね* 訊* 聞* 問* 呟* 囁* 書* 記* 報じ* 報道* 説明* 付け加え* 続け*
        つぶや* 主張* 指摘* 発表* 宣言* 反論* 強調* 警告* 伝え* ささや*
    """,
    "ka": "თქვა უთხრა ჰკითხა ამბობს უპასუხა დაამატა განაცხადა",
    "ko": """
        말* 밝* 답* 대답* 묻* 물* 외치* 외쳤* 덧붙* 전* 강조* 설명* 주장* 적* 썼* 쓰* 발표* 보도* 선언* 경고*
        약속* 지적* 고백* 인정* 반박*
    """,
    "mr": "म्हणाला म्हणाली म्हणाले विचारले विचारलं सांगितले सांगितलं",
    "my": "ပြောသည် ပြောခဲ့သည် မေးသည် ဆိုသည်",
    "ta": "கூறினார் சொன்னார் கேட்டார் தெரிவித்தார் என்றார் கூறினர் சொன்னான்",
    "te": "చెప్పారు అన్నారు అన్నాడు అన్నది పేర్కొన్నారు చెప్పాడు అడిగారు అడిగాడు",
    "th": "กล่าว พูด ถาม ตอบ กล่าวว่า พูดว่า",
    "ur": "کہا پوچھا بتایا",
    "zh": """
        说 說 道 问 問 答 喊 叫 嚷 称 稱 云 写 寫 表示 指出 告诉 告訴 回答 补充 補充 强调 強調 宣布 解释 解釋
        认为 認為 报道 報導 回应 回應 评论 評論 说过 说了 说着 說過 說了 說著
    """,
}
_FIRST = {
    language: re.compile(
        "|".join(word[:-1] if word[-1] == "*" else f"{word}(?!{_LETTER_OR_VOWEL_SIGN})" for word in words.split())
    )
    for language, words in _PARTICLES.items()
}


# what a clause of saying is followed by behind its comma, beside another quotation: 他说，然后走了
_AFTERWARDS = {"zh": "|然后|然後|接着|接著|转身|轉身", "ja": "|(?<=[っん][てで]、)"}


def _clause(words: str, afterwards: str) -> re.Pattern[str]:
    """Compiles a pattern for a clause without further signs, with one of the words at its end or before a comma that
    is followed by `afterwards` or another quotation.
    """
    ends = f"\\s*(?:[{_STOPS}]|$)|[,，、]\\s*(?:[{_MARKS}]{afterwards})"
    verbs = "|".join(f"{word[:-1]}[ぁ-ん가-힣]{{0,6}}" if word[-1] == "*" else word for word in words.split())
    begins = r"\b" if verbs.isascii() else ""
    return re.compile(f"[^{_STOPS}{_MARKS}:：;；،؛]{{0,40}}?{begins}(?:{verbs})(?:{ends})")


_LAST = {language: _clause(words, _AFTERWARDS.get(language, "")) for language, words in _SAYING.items()}
_HAN, _HANGUL, _KANA = (re.compile(f"[{letters}]") for letters in ("\u3400-\u9fff", "\uac00-\ud7a3", "\u3041-\u30ff"))
# letters of scripts with spaces between sentences
_CASELESS = re.compile("[\u0530-\u10ff\u1200-\u137f\u1780-\u17ff\uac00-\ud7a3]")


def goes_on_behind(text: str, opener: int, closer: int, after_letters: bool, end: int, language: str) -> bool:
    """Whether the sentence continues at `end`, after text[opener : closer + 1] with a full stop before its last sign.

    `after_letters` says whether the sentence has letters or digits before this pair.

    >>> [goes_on_behind(text, 0, 5, False, 6, "ja") for text in ("「行こう。」と言った", "「行こう。」次")]
    [True, False]
    """
    sign = text[closer]
    mid_sentence = after_letters and text[opener - 1] not in "：:、，,—"
    following = text[end : end + 64]
    after = following.lstrip()
    if not after:
        return False
    if sign in LABELS:
        return True
    spaced = after is not following and len(after) < len(following)
    chinese_or_japanese = _HAN.match(after) or _KANA.match(after)
    if mid_sentence and (sign in _TITLES and not spaced):
        return True
    if mid_sentence and sign not in QUOTES and sign not in "」｣』":  # brackets
        return not (chinese_or_japanese and text[closer - 1] in "。｡") or is_particle(after, language)
    if not spaced and _CASELESS.match(after):
        return True
    if is_particle(after, language):
        return True
    saying = _LAST.get(_list_of(language, after))
    return saying is not None and saying.match(after) is not None


def _list_of(language: str, after: str) -> str:
    if _HANGUL.match(after):
        return "ko"
    return language if language in _LAST or not _HAN.match(after) else "zh"


def is_particle(after: str, language: str) -> bool:
    """Whether a text begins with a particle that continues the sentence after a quotation or a title."""
    if _HANGUL.match(after):
        return _KOREAN.match(after) is not None
    if language == "ja":
        return _JAPANESE.match(after) is not None
    if _HAN.match(after):
        return _CHINESE.match(after) is not None
    first = _FIRST.get(language)
    return first is not None and first.match(after) is not None
