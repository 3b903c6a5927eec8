"""What a change of code mines again."""

from stele.snakemake_support.fingerprint import closure, package_modules


def test_mining_does_not_depend_on_how_models_are_built():
    reached = closure(package_modules("pairs"))
    assert "encoders.tokenizer" in reached
    assert not [name for name in reached if name in ("encoders.backbone", "encoders.load", "encoders.encode")]
