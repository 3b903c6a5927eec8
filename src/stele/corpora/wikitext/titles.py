"""Page titles and link targets: namespaces, interwiki prefixes and the normal form of a title.

The names of namespaces come from a dump's own siteinfo. This module adds names that a siteinfo lacks: the English names
that every wiki understands, prefixes of other wikis, and local names that a wiki still accepts although its siteinfo
no longer lists them.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from urllib.parse import unquote

from stele.corpora.wikitext.extensions import decode

UNKNOWN = "\0"  # replaces a template in a link's target; no page of an export has this character
MAIN, FILE, CATEGORY = 0, 6, 14
REMEMBERED = 1 << 15  # resolved link targets that a site caches, about 10 MB


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CANONICAL = {
    "media": -2, "special": -1, "talk": 1, "user": 2, "user talk": 3, "project": 4, "project talk": 5, "wikipedia": 4,
    "wp": 4, "file": FILE, "file talk": 7, "image": FILE, "image talk": 7, "mediawiki": 8, "mediawiki talk": 9,
    "template": 10, "template talk": 11, "help": 12, "help talk": 13, "category": CATEGORY, "category talk": 15,
    "portal": 100, "portal talk": 101, "draft": 118, "module": 828, "module talk": 829,
}  # fmt: skip
_PROJECTS = _names(
    """
    wikt wiktionary s wikisource q wikiquote b wikibooks n wikinews v wikiversity voy wikivoyage c commons d
    wikidata species wikispecies m meta mw mediawikiwiki w incubator outreach foundation wmf phab phabricator
    bugzilla mail rfc doi isbn oclc imdbname imdbtitle google toolforge toollabs gerrit test wikitech betawiki
    translatewiki
    """
)
_LANGUAGES = _names(
    """
    aa ab ace ady af ak als alt am ami an ang ann anp ar arc ary arz as ast atj av avk awa ay az azb ba ban bar
    bat-smg bbc bcl bdr be be-tarask be-x-old bew bg bh bi bjn blk bm bn bo bpy br bs btm bug bxr ca cbk-zam cdo
    ce ceb ch cho chr chy ckb co cr crh cs csb cu cv cy da dag de dga din diq dsb dtp dty dv dz ee el eml en eo
    es et eu ext fa fat ff fi fiu-vro fj fo fon fr frp frr fur fy ga gag gan gcr gd gl glk gn gom gor got gpe
    gsw gu guc gur guw gv ha hak haw he hi hif ho hr hsb ht hu hy hyw hz ia iba id ie ig igl ii ik ilo inh io is
    it iu ja jam jbo jv ka kaa kab kaj kbd kbp kcg kg kge ki kj kk kl km kn knc ko koi kr krc ks ksh ku kus kv
    kw ky la lad lb lbe lez lfn lg li lij lld lmo ln lo lrc lt ltg lv mad mai map-bms mdf mg mh mhr mi min mk ml
    mn mni mnw mo mos mr mrj ms mt mus mwl my myv mzn na nah nan nap nds nds-nl ne new ng nia nl nn no nov nqo
    nr nrm nso nup nv ny oc olo om or os pa pag pam pap pcd pcm pdc pfl pi pih pl pms pnb pnt ps pt pwn qu rki
    rm rmy rn ro roa-rup roa-tara rsk ru rue rup rw sa sah sat sc scn sco sd se sg sgs sh shi shn shy si simple
    sk skr sl sm smn sn so sq sr srn ss st stq su sv sw syl szl szy ta tay tcy tdd te tet tg th ti tig tk tl tly
    tn to tok tpi tr trv ts tt tum tw ty tyv udm ug uk ur uz ve vec vep vi vls vo vro wa war wo wuu xal xh xmf
    yi yo yue za zea zgh zh zh-classical zh-min-nan zh-yue zu
    cmn cz dk epo jp minnan nb zh-cfr zh-cn zh-tw
    """  # the last line: aliases of Wikimedia's interwiki map
)
MEDIA_TYPES = "jpe?g|png|gif|svg|tiff?|webp|xcf|pdf|djvu|og[agv]|webm|mp3|midi?|wav|flac|stl"
_MEDIA = re.compile(rf"\.(?:{MEDIA_TYPES})[ _]*$", re.I)
_SIMPLE_TITLE = re.compile(r"[a-zA-Z0-9.,()'-]++(?: [a-zA-Z0-9.,()'-]++)*+")  # already in normal form
_DIRECTION = re.compile("[\u200e\u200f\u202a-\u202e]")  # marks of writing direction, which no title keeps
_BLANK = " _\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
_DOTTED_I = frozenset(("tr", "az", "kaa"))  # MediaWiki's LanguageTr, LanguageAz and LanguageKaa: i becomes İ
_FRAGMENT_OR_END = re.compile("#.*", re.S)


@dataclass(frozen=True)
class Site:
    """A dump's siteinfo: its language, whether titles begin with a capital, and local names of namespaces."""

    language: str = ""
    first_letter: bool = True
    local_names: dict[str, int] = field(default_factory=dict)

    @cached_property
    def namespaces(self) -> dict[str, int]:
        """Maps lower-case names of namespaces to numbers; the wiki's own names have priority."""
        names = old_names(self.language) | _CANONICAL
        return names | {name.lower(): number for name, number in self.local_names.items() if name}

    def shows_nothing(self, prefix: str, rest: str) -> bool:
        """Whether a link `[[prefix:rest` shows no text: a link to a category, or to a file by prefix or file type.

        A `Media:` link shows its text.
        """
        number = self._namespace(prefix)
        return number in (FILE, CATEGORY) or (number is None and _MEDIA.search(rest) is not None)

    @cached_property
    def _namespace(self) -> Callable[[str], int | None]:
        """Cached function from a link's prefix, as written, to its namespace's number; None for an unknown prefix."""

        def namespace(prefix: str) -> int | None:
            name = " ".join(prefix.replace("_", " ").strip(_BLANK).split()).lower()
            return self.namespaces.get(name) if name else MAIN

        return lru_cache(maxsize=1 << 10)(namespace)

    def prefix(self, title: str) -> tuple[int | None, str]:
        """Splits a title without a leading colon into (namespace, rest); for a title of another wiki the namespace is
        None, and the rest is "lang" or "project".
        """
        head, colon, rest = title.partition(":")
        if not colon:
            return MAIN, title
        name = " ".join(head.replace("_", " ").split()).lower()
        number = self.namespaces.get(name)
        if number is not None:
            return number, rest
        if name in _LANGUAGES:
            return None, "lang"
        return (None, "project") if name in _PROJECTS else (MAIN, title)

    @cached_property
    def resolve(self) -> Callable[[str], tuple[str | None, str]]:
        """Cached function from a link target, as written, to (text that the link shows without a label, article).

        The text is None for files, categories and links to other languages; the article is "" if there is none. Recent
        targets are cached because pages of one topic are close in a dump and link to the same articles.
        """
        return lru_cache(maxsize=REMEMBERED)(self._resolve)

    def _resolve(self, target: str) -> tuple[str | None, str]:
        if _SIMPLE_TITLE.fullmatch(target):
            return target, self._capitalise(target) if self.first_letter and target[0].islower() else target
        if UNKNOWN in target:
            return " ".join(target.replace(UNKNOWN, "").split()) or " ", ""
        stripped = target.strip(_BLANK)
        colon = stripped.startswith(":")
        name = stripped[1:] if colon else stripped
        namespace, rest = self.prefix(decode(name)) if ":" in name or "&" in name else (MAIN, name)
        if not colon and (namespace in (FILE, CATEGORY) or (namespace is None and rest == "lang")):
            return None, ""
        return name if colon else target, self.normalise(name) if namespace == MAIN else ""

    def normalise(self, title: str) -> str:
        """Normalises a title to the page's form (spaces, no fragment, NFC, first letter); "" for a link within a page.

        >>> Site().normalise("foo_bar%21#Section")
        'Foo bar!'
        """
        if "&" in title:
            title = decode(title)
        if "%" in title:
            plain = unquote(title, errors="replace")
            title = title if "\ufffd" in plain else plain
        if "#" in title:
            title = _FRAGMENT_OR_END.sub("", title)
        if not title.isascii():
            title = unicodedata.normalize("NFC", _DIRECTION.sub("", title))
        title = " ".join(title.replace("_", " ").split())
        return self._capitalise(title) if self.first_letter else title

    def _capitalise(self, title: str) -> str:
        return "İ" + title[1:] if title[:1] == "i" and self.language in _DOTTED_I else capitalise(title)


def capitalise(title: str) -> str:
    """Capitalises the first letter as MediaWiki does: one character stays one, and Georgian has no capitals.

    >>> capitalise("ßtraße"), capitalise("école")
    ('ßtraße', 'École')
    """
    first = title[:1]
    upper = first.upper()
    return title if len(upper) != 1 or "\u10d0" <= first <= "\u10ff" else upper + title[1:]


# local names of (files, categories) by the languages that share them
_NAMES = {
    "als bar de frr ksh lb nds pdc stq": ("bild datei", "kategorie"),
    "an ast es": ("imagen archivo", "categoría"),
    "fy li nds-nl nl vls zea": ("afbeelding bestand", ""),
    "it lmo nap pms scn vec": ("immagine", "categoria"),
    "pt": ("imagem ficheiro arquivo", "categoria"),
    "gl": ("imagem ficheiro arquivo", "categoría"),
    "pl szl": ("grafika plik", "kategoria"),
    "da nn no sv": ("fil bild", "kategori"),
    "et": ("pilt", ""),
    "fi": ("kuva tiedosto", "luokka"),
    "hu": ("kép fájl", "kategória"),
    "cs": ("soubor obrázek", "kategorie"),
    "sk": ("súbor", "kategória"),
    "az tr": ("resim dosya", "kategori"),
    "vi": ("hình tập_tin", "thể_loại"),
    "id jv ms su": ("gambar berkas", "kategori"),
    "sw": ("picha faili", "jamii"),
    "ca": ("imatge fitxer", "categoria"),
    "bs hr sh sl sr": ("slika slike datoteka слика датотека", "категорија"),
    "ltg lv": ("attēls fails", ""),
    "lt": ("vaizdas", ""),
    "ro": ("imagine fișier", ""),
    "eo": ("dosiero", ""),
    "eu": ("fitxategi", "kategoria"),
    "fr": ("fichier", "catégorie"),
    "be be-tarask bg kk ky ru tt": ("изображение файл картинка", "категория"),
    "uk": ("зображення файл", "категорія"),
    "mk": ("слика", "категорија"),
    "el": ("εικόνα αρχείο", "κατηγορία"),
    "ka": ("ფაილი სურათი", ""),
    "hy": ("պատկեր", ""),
    "he": ("קובץ תמונה", "קטגוריה"),
    "ar arz": ("صورة ملف", "تصنيف"),
    "fa": ("پرونده تصویر", "رده"),
    "ur": ("تصویر چتر فائل", "زمرہ"),
    "hi mr ne sa": ("चित्र छवि चित्रम चित्र_चर्चा", "श्रेणी"),
    "bn": ("চিত্র ছবি", "বিষয়শ্রেণী"),
    "pa": ("ਤਸਵੀਰ", ""),
    "gu": ("ચિત્ર", ""),
    "or": ("ଫାଇଲ", ""),
    "ta": ("படிமம்", "வகுப்பு"),
    "te": ("చిత్రం దస్త్రం", "వర్గం"),
    "kn": ("ಚಿತ್ರ", ""),
    "ml": ("പ്രമാണം ചിത്രം", ""),
    "si": ("ගොනුව", ""),
    "th": ("ภาพ ไฟล์", "หมวดหมู่"),
    "lo": ("ຮູບ", ""),
    "my": ("ဖိုင်", ""),
    "km": ("រូបភាព", ""),
    "am": ("ስዕል", ""),
    "ja": ("ファイル 画像", "カテゴリ"),
    "ko": ("파일 그림", "분류"),
    "gan wuu yue zh zh-yue": ("文件 檔案 档案 图像 圖像 圖片 图片", "分类 分類"),
}


def old_names(language: str) -> dict[str, int]:
    """Maps a language's old lower-case names of namespaces to their numbers; empty for a language not listed above.

    >>> old_names("sv")
    {'fil': 6, 'bild': 6, 'kategori': 14}
    """
    for languages, names in _NAMES.items():
        if language in languages.split():
            pairs = zip((FILE, CATEGORY), names, strict=True)
            return {name.replace("_", " "): number for number, words in pairs for name in words.split()}
    return {}
