"""Recognise full stops and other marks that do not end a sentence: abbreviations, initials, ordinals, dates.

Before a small letter, an abbreviation is recognised by its length. Before a capital, a number or a letter of a script
without case it must be listed. The lists have abbreviations that precede names, nouns and numbers, so are hardly ever
at the end of a sentence (Dr. Ames, ul. Długa, fig. 3), but not those that may end one ("etc.", "Inc.", "г.").
"""

import re

from stele.text.quotations import CLOSING, GERSHAYIM, OPENING

LONGEST = 4  # most letters of an abbreviation that is recognised before a small letter without a list


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# abbreviations before a name or a noun, in lower case, without the last full stop
_LISTED = {
    "ar": "د أ م ص ج ت ط ش ق",
    "da": "dr hr fr frk prof ing mag jf jvf skt kl tlf",
    "de": """
        dr hr fr frl prof dipl ing mag st hl vgl bzw evtl ggf insb sog zit hrsg geb gest verh priv doz hptm lt gen
        maj
    """,
    "en": """
        gen col capt lt sgt maj cmdr adm gov sen rep rev hon mt ft mr mrs ms dr prof st messrs mme mlle cf viz msgr
        supt sr fr pres
    """,
    "es": """
        sr sra srta sres dr dra drs d dña prof profa ing lic arq gral cnel cap tte sgto av avda pza c ctra sta sto
        fr mons excmo cf cfr apdo
    """,
    "fi": "dr prof tri maist toht ins esim ks vrt puh",
    "fr": "m mm mme mmes mlle mlles dr pr prof st ste sts stes mgr me gén col cap lt av bd bld pl cf éd jr rév",
    "gu": "ડૉ ડો શ્રી શ્રીમતી પં પ્રો ઈ.સ કિ કિ.મી",
    "he": "פרופ אינג מס עמ טל",
    "hi": "डॉ डा श्री श्रीमती सुश्री पं प्रो मि मिस मो ई.पू वि सं कि मी कि.मी",
    "hu": "dr ifj id özv prof szt br gr bp kb pl ill ún vö ld",
    "id": "dr drs dra ir prof h hj kh tn ny sdr yth jl jln gg kec kab prov pt cv st tb",
    "it": """
        sig sigg sigra dott dottssa prof profssa avv ing arch geom rag on sen gen col cap ten mons d fr s ss sta sto
        v vle cfr soc spett gent egr
    """,
    "kn": "ಡಾ ಶ್ರೀ ಶ್ರೀಮತಿ ಪ್ರೊ ಕ್ರಿ.ಶ ಕ್ರಿ.ಪೂ ಕಿ.ಮೀ",
    "mr": "डॉ श्री श्रीमती कु पं प्रो इ.स इ.स.पू कि.मी",
    "ms": "dr prof ir ts hj tn pn cik jln lrg kg sdn dato",
    "ne": "डा डॉ श्री श्रीमती पं प्रा प्रो वि सं वि.सं ई.पू कि मी कि.मी",
    "nl": "dr drs mr mw mevr dhr hr prof ing ir ds st burg gen kol maj kap vgl resp zgn",
    "no": "dr hr fr frk prof ing mag jf jfr kl tlf st",
    "or": "ଡ ଡା ଡଃ ପ୍ରୋ ଶ୍ରୀ ଶ୍ରୀମତୀ",
    "pa": "ਡਾ ਸ੍ਰੀ ਪ੍ਰੋ ਸ ਕਿ.ਮੀ",
    "pl": "dr hab prof inż mgr lek św bł ks o abp bp kard gen płk mjr kpt por ul al pl os im tzw zob",
    "pt": """
        sr sra srta srs dr dra drs prof profa eng arq gen cel cap ten sgto d dom fr pe mons s sta sto av r pça tv al
        cf exmo
    """,
    "ru": "см ср им ул пр пл пер пос дер тов акад проф доц инж ген полк кап св о",
    "sv": "dr hr fr prof ing mag jfr jmf kl tel st",
    "sw": "dkt bw bi mhe mh prof na rev",
    "ta": "திரு திருமதி திருமிகு மிஸ் ரெவ் பேரா கி.மு கி.பி கி.மீ",
    "te": """
        డా డాక్టర్ శ్రీ శ్రీమతి ప్రొ కుమారి చి క్రీ.పూ క్రీ.శ క్రీ శ పూ కి మీ ఎ ఏ బి సి డి ఇ ఎఫ్ జి జీ హెచ్ ఐ జె జే
        కె కే ఎల్ ఎమ్ ఎం ఎన్ ఓ ఒ పి క్యూ ఆర్ ఎస్ టి టీ యు యూ వి వీ డబ్ల్యు ఎక్స్ వై జెడ్
    """,
    "tr": """
        dr prof doç yrd öğr gör uzm op av alb yzb tğm org gen müh st hz sn bkz krş cad sok mah apt m.ö m.s i̇.ö i̇.s
    """,
    "vi": "tp tx tt gs pgs ts th ths ks bs ls lm ptts nxb q p h đt",
}  # fmt: skip
_ABBREVIATIONS = {language: _words(text) for language, text in _LISTED.items()}
# abbreviations before a number, in every language
_NUMBERED = _words(
    """
    no nr nos nrs n núm num p pp s pag pagg pág págs blz vol vols fig figs abb tab cap chap ch kap rozdz hfst art
    sec séc op ca ok aprox approx env kb yakl v c t bd stk rys gbr hlm hal bil tr bkz uk na tar tgl см рис табл гл с
    стр ст п т ок cf ks luku
    """
)
# Latin numerals and numbers as ordinals, also before a capital: "19. Jahrhundert", "II. Mehmed"
_ORDINAL = {
    "de": re.compile(r"[0-9]{1,2}"),
    "hu": re.compile(r"[0-9]{1,2}|[IVXL]+"),
    "tr": re.compile(r"[0-9]{1,2}|[IVXL]+"),
}
_ROMAN = re.compile(r"[IVXLC]+(?!\w)")
_NUMERAL = re.compile(r"[-–]?\d+|[IVXLCDM]+")
_YEAR = re.compile(r"\d{4}(?!\d)")
_DAY = re.compile(r"\d{1,2}\.")  # or a month
# scripts that end a sentence with another sign (danda, khan, ።, 。) or with a space: a full stop there abbreviates
_OTHER_STOP = re.compile(
    "[\u0980-\u09ff\u0e00-\u0fff\u1000-\u109f\u1200-\u137f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
)
# a letter, with its signs, of scripts without capitals that write initials: Hebrew, Arabic, Tamil, Telugu, Georgian
# (but not its წ., year, which may end a sentence)
_INITIAL = re.compile(
    "[\u05d0-\u05ea\u0620-\u064a\u0b85-\u0bb9\u0c05-\u0c39\u10d0-\u10eb\u10ed-\u10f0]"
    "[\u064b-\u0652\u0bbe-\u0bcd\u0c3e-\u0c4d]*"
)
_NO_INITIALS = "IVXÝ"  # numerals, and the Vietnamese name of Italy
_INITIALS_KNOWN = ("en",)  # the library tells them from "Linear B." by the word that follows
_HANGUL = re.compile("[\uac00-\ud7a3]")
_CLOSERS = CLOSING + "“‘«‹"  # closing marks in German and Danish
_OPENERS = OPENING + "”’¿¡–—- "
_WIDE = "\u3001-\u30ff\u3400-\u9fff\uff00-\uffef"
_WORD = re.compile(rf"(?:[^\s\"'“„‘‚«‹(\[\]/–—{_WIDE}-]|{GERSHAYIM})+$|[{_WIDE}]+$")
_DAY_AND_MONTH = re.compile(r"\b\d{1,2}\.? [^\W\d_]{3,5}$")


def goes_on(text: str, end: int, language: str) -> bool:
    """Whether the sentence continues after text[:end], although this ends with a mark that can end a sentence.

    >>> goes_on("Az 1949. évi", 9, "hu"), goes_on("Dr. Ames", 4, "en"), goes_on("It was late. He left.", 13, "en")
    (True, True, False)
    """
    before = text[max(0, end - 32) : end].rstrip()
    after = text[end : end + 8]
    head = before.rstrip(_CLOSERS)
    following = after.lstrip(_OPENERS)[:1]
    small = following.islower() and all(map(_has_case, filter(str.isalpha, head + following)))
    if not head.endswith("."):
        return small and head[-1:] in ("?", "!", "…")
    if small and (len(head) < len(before) or head.endswith("..")):
        return True
    word = head[head.rfind(" ") + 1 : -1]
    if not (word.isalnum() and max(word) < "\u3001"):
        word = match.group() if (match := _WORD.search(word)) else ""
    last = word.rpartition(".")[2]
    if not last:
        return False
    if small:
        return _letters(last) <= LONGEST or _NUMERAL.fullmatch(last) is not None
    if text[end - 1] == "." and after[:1] and _joined(last, after):
        return True
    if last.lower() in _NUMBERED and (following.isdigit() or _ROMAN.match(after.lstrip())):
        return True
    if following.isdigit() and _is_date(head[:-1], last, after.lstrip()):
        return True
    return _before_name(word, last, following, language)


def _has_case(letter: str) -> bool:
    """Whether a letter's script begins sentences with capitals, which Georgian does not."""
    return letter.lower() != letter.upper() and not "\u10d0" <= letter <= "\u10ff"


def _letters(word: str) -> int:
    """Number of letters in a word, without vowel signs and other marks; 0 for a number."""
    return sum(map(str.isalpha, word))


def _joined(last: str, after: str) -> bool:
    """Whether a full stop without a space after it is inside an abbreviation or a number: a.C., J.-C., ২.৫."""
    if after[0].isdigit():
        return last[-1].isdigit() or _letters(last) <= LONGEST
    return (after[0] == "-" or after[0].isalpha()) and 0 < _letters(last) <= LONGEST


def _is_date(before: str, last: str, after: str) -> bool:
    """Whether a full stop is between the parts of a date: 6. 12. 1900, 6 déc. 1900."""
    if _YEAR.match(after) and _DAY_AND_MONTH.search(before):
        return True
    followed_by_year = len(last) <= 2 and _YEAR.match(after)
    return last.isdigit() and bool(followed_by_year or _DAY.match(after))


def _before_name(word: str, last: str, following: str, language: str) -> bool:
    listed = _ABBREVIATIONS.get(language)
    if listed and (last.lower() in listed or word.lower() in listed):
        return True
    if following.isupper():
        if len(word) == 1 and word.isupper() and word not in _NO_INITIALS and language not in _INITIALS_KNOWN:
            return True
        return language in _ORDINAL and _ORDINAL[language].fullmatch(last) is not None
    if _OTHER_STOP.match(last) or _OTHER_STOP.match(following):
        return _letters(last) <= LONGEST
    return bool(_INITIAL.fullmatch(word) or (last.isdigit() and _HANGUL.match(following)))
