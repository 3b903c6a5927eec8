"""Command lines of small pretrainings."""

import hashlib
import json

SMALL = dict(steps=6, groups=2, mlm_sequences=4, mlm_length=16, mask_probability=0.15, warmup_steps=2, dropout=0.1)
SMALL |= dict(learning_rate=1e-3, sampling_alpha=0.3, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.01, clip_norm=None)
OWN = {
    "msm": dict(documents=3, sentences=5, sentence_length=12, layers=2, mu=0.5, temperature=0.1, mlm_share=0.25),
    "crop": dict(pairs=6, sentence_length=12, temperature=0.1, projector="asymmetric", mlm_share=0.25),
    "ict": dict(pairs=6, query_length=8, block_length=12, width=8),
    "mlm": {},
    "kept": dict(tasks=["crop", "ilk", "clk"], pairs=6, length=12, temperature=0.05, groups=3),
    "moco": dict(pairs=6, length=12, temperature=0.05, queue=36, momentum=0.9),
    "ccp": dict(pairs=6, sentence_length=12, window=5, temperature=0.1, l2=True, batch_norm="asymmetric", bank=36),
}
OWN["ccp"] |= dict(languages=["en", "sw"], mlm_share=0.25)
OWN["msm"] |= dict(projector="asymmetric")
for _mixed in ("kept", "moco"):
    OWN[_mixed] |= dict(mixing="all_languages", crop_ratio=[0.1, 0.5])


def command(place, base, pairs, recipe, seed=0, code="", **changes):
    given = ["--model", "mine", "--recipe", json.dumps(recipe | changes), "--base", str(base), "--seed", str(seed)]
    given += ["--pairs", *(f"{name}={path}" for name, path in pairs.items()), "--code", code]
    given += ["--state", str(place / "state"), "--output", str(place / "out/record.json")]
    return ["pretraining", "pretrain", *given]


def arguments(place, base, pairs, objective="msm", seed=0, drop=(), code="", **changes):
    """That of an objective's small recipe; `drop` are keys that it does not say."""
    recipe = {"objective": objective, **SMALL, **OWN[objective], **changes}
    return command(place, base, pairs, {name: value for name, value in recipe.items() if name not in drop}, seed, code)


def weights(folder):
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
