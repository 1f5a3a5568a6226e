"""The blocks of the Meta-LLM's prompt are those of the JSON encoder."""

from hypothesis import given
from hypothesis import strategies as st

from lawtrace.agents.legal.meta_llm import passages_json, question_json
from lawtrace.agents.legal.role_calls import as_json
from lawtrace.environments.legal.case import ALPHABET, Chunk, Question

TEXTS = st.text(min_size=1, max_size=20).filter(lambda text: bool(text.strip()))


@given(TEXTS, st.lists(TEXTS, max_size=5).filter(lambda texts: len(texts) != 1))
def test_questions_are_written_as_the_encoder_does(text: str, options: list[str]) -> None:
    keys = dict(zip(ALPHABET, options, strict=False))
    question = Question(id="q", text=text, options=keys, answer="A", decision=True)
    assert question_json(question) == as_json({"question": text, "options": keys})


@given(st.lists(TEXTS, max_size=4))
def test_passages_are_written_as_the_encoder_does(texts: list[str]) -> None:
    chunks = [Chunk(ref=f"F{place}", agent="F", text=text) for place, text in enumerate(texts)]
    assert passages_json(chunks) == as_json([{"ref": chunk.ref, "text": chunk.text.strip()} for chunk in chunks])
