"""Beyond chat: reasoning, agents, video, stored vectors."""

from __future__ import annotations

from formulas.formula import formula

SECTION = "beyond"


@formula(
    section=SECTION,
    chapter=31,
    letters={"time_to_first_answer": r"\text{time to first answer token}"},
)
def time_to_first_answer(ttft, thinking_tokens, itl):
    """The hidden tokens come before the first one that a person sees."""
    return ttft + thinking_tokens * itl


@formula(
    section=SECTION,
    chapter=31,
    relation="≈",
    holds_when="a warm prefix keeps TTFT flat as the transcript grows",
    letters={
        "agent_task_latency": r"\text{task latency}",
        "turns": r"\text{turns}",
        "turn_decode_time": r"\text{short decode}",
        "tool_time": r"\text{tool time}",
    },
)
def agent_task_latency(turns, ttft, turn_decode_time, tool_time):
    """Every turn pays a prefill and a short decode; the tools come on top."""
    return turns * (ttft + turn_decode_time) + tool_time


@formula(
    section=SECTION,
    chapter=32,
    holds_when="halve tokens per frame where pairs of frames are merged",
    letters={
        "video_tokens": r"\text{tokens}",
        "frames": r"\text{frames}",
        "tokens_per_frame": r"\text{tokens per frame}",
        "audio_tokens": r"\text{audio tokens}",
    },
)
def video_tokens(frames, tokens_per_frame, audio_tokens):
    """Tokens of the pictures, and of the sound track where there is one."""
    return frames * tokens_per_frame + audio_tokens


@formula(
    id="vector_storage",
    gives="vector_bytes",
    section=SECTION,
    holds_when="raw vectors, before any index",
    letters={
        "vector_bytes": r"\text{vector storage}",
        "n_vectors": "N",
        "bytes_per_dim": r"\text{bytes per dim}",
    },
)
def vector_storage(n_vectors, vector_dims, bytes_per_dim):
    """One vector for each document or chunk."""
    return n_vectors * vector_dims * bytes_per_dim
