"""The tokenizers of the package `tokenizers`, which ours is compared with and test models ship."""

from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing

from recollect.models.packaged_models import default_manifest


def reference_tokenizer(*, lowercase: bool = True, max_tokens: int = 256) -> Tokenizer:
    """Return BERT's tokenizer with the vocabulary of the default model."""
    vocabulary = Path(default_manifest().tokenizer)
    pieces = vocabulary.read_text(encoding="utf-8").splitlines()
    ids = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    tokenizer.enable_truncation(max_tokens)
    tokenizer.no_padding()
    return tokenizer
