"""Local names of files and categories that a wiki still accepts though its siteinfo no longer lists them.

From MediaWiki's messages, by language: `Fil:` is a file in Swedish and may begin a title in any other.
"""

from __future__ import annotations

FILE, CATEGORY = 6, 14
# languages that share them: (files, categories)
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
    """Name in lower case -> namespace, for the wiki of a language; none for one that is not here.

    >>> old_names("sv")
    {'fil': 6, 'bild': 6, 'kategori': 14}
    """
    for languages, names in _NAMES.items():
        if language in languages.split():
            pairs = zip((FILE, CATEGORY), names, strict=True)
            return {name.replace("_", " "): number for number, words in pairs for name in words.split()}
    return {}
