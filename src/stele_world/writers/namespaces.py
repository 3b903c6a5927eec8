"""Names of MediaWiki's namespaces and of its redirect word, as the Wikipedias of these languages localise them.

Beside its own name a namespace has the English one and aliases: a wiki's older names, "Image" and a short name.

Source: MediaWiki's languages/messages/Messages*.php. A language that is not listed keeps the English names.
"""

from __future__ import annotations

from typing import NamedTuple


class Names(NamedTuple):
    """Localised names of namespaces 6, 14, 10, 1 and the magic word of a redirect."""

    file: str
    category: str
    template: str
    talk: str
    redirect: str


ENGLISH = Names("File", "Category", "Template", "Talk", "#REDIRECT")
LOCAL = {
    "ar": Names("ملف", "تصنيف", "قالب", "نقاش", "#تحويل"),
    "bg": Names("Файл", "Категория", "Шаблон", "Беседа", "#ПРЕНАСОЧВАНЕ"),
    "bn": Names("চিত্র", "বিষয়শ্রেণী", "টেমপ্লেট", "আলাপ", "#পুনর্নির্দেশ"),
    "da": Names("Fil", "Kategori", "Skabelon", "Diskussion", "#OMDIRIGERING"),
    "de": Names("Datei", "Kategorie", "Vorlage", "Diskussion", "#WEITERLEITUNG"),
    "el": Names("Αρχείο", "Κατηγορία", "Πρότυπο", "Συζήτηση", "#ΑΝΑΚΑΤΕΥΘΥΝΣΗ"),
    "es": Names("Archivo", "Categoría", "Plantilla", "Discusión", "#REDIRECCIÓN"),
    "fa": Names("پرونده", "رده", "الگو", "بحث", "#تغییر_مسیر"),
    "fi": Names("Tiedosto", "Luokka", "Malline", "Keskustelu", "#OHJAUS"),
    "fr": Names("Fichier", "Catégorie", "Modèle", "Discussion", "#REDIRECTION"),
    "hi": Names("चित्र", "श्रेणी", "साँचा", "वार्ता", "#अनुप्रेषित"),
    "id": Names("Berkas", "Kategori", "Templat", "Pembicaraan", "#ALIH"),
    "it": Names("File", "Categoria", "Template", "Discussione", "#RINVIA"),
    "ja": Names("ファイル", "Category", "Template", "ノート", "#転送"),
    "ko": Names("파일", "분류", "틀", "토론", "#넘겨주기"),
    "nl": Names("Bestand", "Categorie", "Sjabloon", "Overleg", "#DOORVERWIJZING"),
    "no": Names("Fil", "Kategori", "Mal", "Diskusjon", "#OMDIRIGERING"),
    "pl": Names("Plik", "Kategoria", "Szablon", "Dyskusja", "#PATRZ"),
    "pt": Names("Ficheiro", "Categoria", "Predefinição", "Discussão", "#REDIRECIONAMENTO"),
    "ro": Names("Fișier", "Categorie", "Format", "Discuție", "#REDIRECTEAZA"),
    "ru": Names("Файл", "Категория", "Шаблон", "Обсуждение", "#перенаправление"),
    "sv": Names("Fil", "Kategori", "Mall", "Diskussion", "#OMDIRIGERING"),
    "sw": Names("Picha", "Jamii", "Kigezo", "Majadiliano", "#REDIRECT"),
    "ta": Names("படிமம்", "பகுப்பு", "வார்ப்புரு", "பேச்சு", "#வழிமாற்று"),
    "te": Names("దస్త్రం", "వర్గం", "మూస", "చర్చ", "#దారిమార్పు"),
    "th": Names("ไฟล์", "หมวดหมู่", "แม่แบบ", "พูดคุย", "#เปลี่ยนทาง"),
    "tr": Names("Dosya", "Kategori", "Şablon", "Tartışma", "#YÖNLENDİRME"),
    "uk": Names("Файл", "Категорія", "Шаблон", "Обговорення", "#ПЕРЕНАПРАВЛЕННЯ"),
    "ur": Names("فائل", "زمرہ", "سانچہ", "تبادلۂ خیال", "#رجوع_مکرر"),
    "vi": Names("Tập tin", "Thể loại", "Bản mẫu", "Thảo luận", "#đổi"),
}


ALIASES = {  # number -> further names that these wikis accept
    "de": {6: ["Bild"]},
    "es": {6: ["Imagen"], 14: ["Categoria"]},
    "fi": {6: ["Kuva"]},
    "id": {6: ["Gambar"]},
    "ja": {6: ["画像"], 14: ["カテゴリ"]},
    "ko": {6: ["그림"]},
    "ru": {6: ["Изображение"], 14: ["К"]},
    "th": {6: ["ภาพ"]},
    "tr": {6: ["Resim"], 14: ["KAT"]},
}


def names(language: str) -> Names:
    return LOCAL.get(language, ENGLISH)


def namespaces(language: str) -> list[tuple[int, str]]:
    """(key, name) of the namespaces of a Wikipedia, in the order in which dumps list them."""
    local = names(language)
    return [
        (-2, "Media"),
        (-1, "Special"),
        (0, ""),
        (1, local.talk),
        (2, "User"),
        (3, "User talk"),
        (4, "Wikipedia"),
        (5, "Wikipedia talk"),
        (6, local.file),
        (7, f"{local.file} talk"),
        (8, "MediaWiki"),
        (9, "MediaWiki talk"),
        (10, local.template),
        (11, f"{local.template} talk"),
        (12, "Help"),
        (13, "Help talk"),
        (14, local.category),
        (15, f"{local.category} talk"),
        (828, "Module"),
        (829, "Module talk"),
    ]


def aliases(language: str) -> list[tuple[int, str]]:
    """(key, name) of the namespaces' further names, by key."""
    of_language = ALIASES.get(language, {})
    names = {
        4: ["WP"],
        5: ["WT"],
        6: ["Image", *of_language.get(6, ())],
        7: ["Image talk"],
        14: of_language.get(14, []),
    }
    return [(key, name) for key, given in names.items() for name in given]
