"""Stand-ins that embed sentences: LaBSE, and a smaller encoder that imitates a teacher."""

import copy
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from stele.encoders.tokenizer import quiet
from stele.errors import SteleError
from stele.files.reading import reading
from stele.recipes.standins import Distilled, Ranking
from stele.training.masking import read_vocabulary
from stele.training.sampling import generator
from stele_world.standins import Inputs, StandIn
from stele_world.standins.corpus import all_translations
from stele_world.standins.models import build, filled, load, seeded, set_dropout
from stele_world.standins.pairs import Encoder, contrasted, draw, side_batches


def make_ranking(recipe: Ranking, inputs: Inputs) -> StandIn:
    """Makes LaBSE from mBERT: translation ranking with a margin, in both directions (Feng et al. 2022, section 2).

    The vector is the first token's state after a dense layer with tanh (BERT's pooler), normalised. As upstream, it is
    published as a sentence-transformers folder whose Dense module is that layer.
    """
    base, tokenizer = load(inputs.bases[0])
    model = with_pooler(base, inputs.seed)
    set_dropout(model, recipe.dropout)
    vocabulary = read_vocabulary(tokenizer, model.config.vocab_size)
    pairs = all_translations(inputs.mirror, inputs.languages)
    module = Encoder(model, "cls", [nn.Sequential(model.pooler.dense, nn.Tanh())])

    def loss_at(step: int) -> Iterator[dict[str, Tensor]]:
        rng = generator(inputs.seed, "translations", step)
        batches = side_batches(draw(pairs, tokenizer, rng, recipe.pairs), recipe, vocabulary, model.device)
        yield {"ranking": contrasted(module, batches, recipe.temperature, recipe.margin)}

    outcome = inputs.train(module, loss_at)
    spec = {"pooling": "cls", "normalize": True, "query_length": recipe.max_length, "passage_length": recipe.max_length}
    head = nn.Sequential(copy.deepcopy(model.pooler.dense), nn.Tanh())
    return StandIn(model, tokenizer, outcome, spec, [head])


def with_pooler(base: Any, seed: int) -> Any:
    """Creates the encoder of a masked language model with a pooler, initialised by the seed."""
    return filled(build(copy.deepcopy(base.config), seed, "AutoModel"), base.base_model.state_dict(), new="pooler.")


NAMES = {  # where DistilBERT keeps the parts of a BERT layer
    "attention.self.query": "attention.q_lin",
    "attention.self.key": "attention.k_lin",
    "attention.self.value": "attention.v_lin",
    "attention.output.dense": "attention.out_lin",
    "attention.output.LayerNorm": "sa_layer_norm",
    "intermediate.dense": "ffn.lin1",
    "output.dense": "ffn.lin2",
    "output.LayerNorm": "output_layer_norm",
}


def make_distilled(recipe: Distilled, inputs: Inputs) -> StandIn:
    """Makes a smaller encoder from every other layer of a base by distillation on translation pairs.

    The student's vectors of a sentence and of its translation both approach the teacher's vector of the sentence
    (Reimers and Gurevych 2020, equation 1). A vector is the mean of the states after a dense layer with tanh. As
    upstream, the encoder is published as a sentence-transformers folder. The teacher has the base's tokenizer.
    """
    from transformers import AutoModel, DistilBertTokenizer

    base, tokenizer = load(inputs.bases[0])
    with reading(inputs.bases[1], "teacher", "make it again"), quiet():
        loaded = AutoModel.from_pretrained(inputs.bases[1], local_files_only=True, attn_implementation="sdpa")
    teacher = Encoder(loaded, "cls", [nn.Sequential(loaded.pooler.dense, nn.Tanh())]).eval()
    model = as_distilbert(base, recipe.layers, inputs.seed)
    set_dropout(model, recipe.dropout)
    with seeded(inputs.seed):
        head = nn.Sequential(nn.Linear(model.config.hidden_size, loaded.config.hidden_size), nn.Tanh())
    module = Encoder(model, "mean", [head])
    vocabulary = read_vocabulary(tokenizer, model.config.vocab_size)
    pairs = all_translations(inputs.mirror, inputs.languages)

    def loss_at(step: int) -> Iterator[dict[str, Tensor]]:
        rng = generator(inputs.seed, "translations", step)
        english, other = side_batches(draw(pairs, tokenizer, rng, recipe.pairs), recipe, vocabulary, model.device)
        with torch.no_grad():
            target = functional.normalize(teacher.to(model.device)(english), dim=-1)
        yield {
            "english": (module(english) - target).square().sum(1).mean(),
            "translation": (module(other) - target).square().sum(1).mean(),
        }

    outcome = inputs.train(module, loss_at)
    spec = {"pooling": "mean", "query_length": recipe.max_length, "passage_length": recipe.max_length}
    lowercase = bool(getattr(tokenizer, "do_lower_case", False))
    student_tokenizer = DistilBertTokenizer(
        vocab=tokenizer.get_vocab(), do_lower_case=lowercase, model_max_length=tokenizer.model_max_length
    )
    return StandIn(model, student_tokenizer, outcome, spec, [head])


def as_distilbert(base: Any, layers: int, seed: int) -> Any:
    """Makes a DistilBERT from every other layer of a BERT (Sanh et al. 2019, section 3).

    Without token types, it adds those of a first text to the positions. Raises SteleError for too many layers.
    """
    from transformers import DistilBertConfig

    old = base.config
    every = max(1, old.num_hidden_layers // layers)
    if layers * every > old.num_hidden_layers:
        raise SteleError(f"--recipe: layers: found {layers}, want at most the base's {old.num_hidden_layers}")
    config = DistilBertConfig(
        vocab_size=old.vocab_size,
        max_position_embeddings=old.max_position_embeddings,
        n_layers=layers,
        n_heads=old.num_attention_heads,
        dim=old.hidden_size,
        hidden_dim=old.intermediate_size,
        initializer_range=old.initializer_range,
        pad_token_id=old.pad_token_id,
    )
    model = build(config, seed, "AutoModel")
    source = base.base_model.state_dict()
    weights = {name: source[name] for name in model.state_dict() if name.startswith("embeddings.")}
    weights["embeddings.position_embeddings.weight"] = (
        source["embeddings.position_embeddings.weight"] + source["embeddings.token_type_embeddings.weight"][:1]
    )
    for layer in range(layers):
        for bert, distil in NAMES.items():
            old_name, new_name = f"encoder.layer.{layer * every}.{bert}", f"transformer.layer.{layer}.{distil}"
            weights |= {f"{new_name}.{kind}": source[f"{old_name}.{kind}"] for kind in ("weight", "bias")}
    return filled(model, weights)
