"""Comparison of two runs of the same scenario: the order of frames, their public keys, and significant values.

Ids, times, durations, costs and texts of the CLI's own are never compared. Keys that the CLI sends but its published
types do not have may be removed in any release; they are listed here and ignored.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .host import Record, is_named

# Frames that are not in the published union; their order is not guaranteed.
INTERNAL_FRAMES = {"command_lifecycle", "autocompact_state", "transcript_mirror", "system:session_title_changed"}

# Their number depends on how the network splits a stream.
STREAMED = {"stream_event:content_block_delta", "system:thinking_tokens"}

# Keys that are sent but not published, by frame kind; `*` is for every kind. A dot goes into an object.
INTERNAL_KEYS: dict[str, set[str]] = {
    "assistant": {
        "historical", "refused_message_id", "tool_use_meta", "narration_block_indexes", "narration_hint",
        "thinking_duration_ms", "thinking_display", "is_meta", "is_virtual", "local_command_source",
        "local_command_run", "local_command_outcome", "batch_tool_uses", "wire_tool_inputs", "is_api_error_message",
        "api_error_status", "api_error", "api_error_params", "api_error_code", "api_error_type", "api_error_origin",
        "error_details", "advisor_model",
    },
    "user": {
        "tool_result_meta", "mcp_meta", "source_tool_use_id", "source_tool_assistant_uuid", "permission_mode",
        "is_meta", "is_virtual", "is_compact_summary", "is_visible_in_transcript_only", "summarize_metadata",
        "historical", "interrupted_message_id", "refused_message_id", "retracted_message_uuids",
    },
    "result": {
        "model_usage_since_last_result", "subagent_stats", "safety_stops", "interrupted_by_shutdown",
        "stopped_by_permission_check", "api_error", "api_error_code", "api_error_type", "api_error_origin",
        "restored_rewind", "first_request_input_tokens", "first_request_cache_read_input_tokens",
        "time_to_request_phases_ms", "turn_start_resume_kind", "process_turn_index", "time_to_request_loop_lag_ms",
        "time_to_request_cpu_ms", "time_to_request_major_faults", "input_attachments_detail",
        "tool_schema_build_detail", "message_normalization_detail", "request_build_detail", "runner_exit",
        "policy_answer", "policy_answer_reason",
    },
    "system:init": {
        "memory_paths", "original_cwd", "additional_directories", "messaging_socket_path", "analytics_disabled",
        "product_feedback_disabled", "per_turn_effort_active", "ultrathink_available", "ultrathink_typed_raises",
        "plugin_warnings", "mcp_server_errors", "startup_timing", "scratchpad_path", "synced_skills_path",
        "worker_epoch", "client_thinking", "cloud_session", "footer_indicator", "user_message_uuids",
        "plugins[].source",
    },
    "system:compact_boundary": {
        "logical_parent_uuid", "historical", "compact_metadata.cumulative_dropped_tokens",
        "compact_metadata.user_context", "compact_metadata.messages_summarized", "compact_metadata.precomputed",
        "compact_metadata.pre_compact_discovered_tools", "compact_metadata.preserved_messages.all_uuids",
    },
    "system:status": {"user_message_uuids", "compact_output_chars", "resume_held_for_plan"},
    "system:permission_denied": {"decision_reason_code"},
    "system:informational": {"prompt_submit_outcome", "model_restriction", "hook_no_verdict", "isMeta", "timestamp"},
    "system:task_started": {"awaited"},
    "system:task_notification": {"handback", "handback_report"},
    "stream_event": {"api_message_id", "thinking_display", "abandoned_blocks", "text_runs_joined", "owed_rows"},
    "control_request:can_use_tool": {
        "request.decision_reason_code", "request.decision_reason_rule_source", "request.decision_reason_hook_event",
        "request.decision_reason_hook_source", "request.decision_reason_plugin_id", "request.server_policy_ask_only",
        "request.plugin", "request.server_prompt", "request.computer_folder", "request.provenance_prompt_line",
        "request.tool_kind",
    },
    "control_request:hook_callback": {"request.issued_at", "request.deadline_ms"},
    "control_response:success:initialize": {
        f"response.response.{key}" for key in (
            "pid", "current_permission_mode", "current_model", "session_state", "capabilities",
            "user_output_styles_dir", "other_hook_ask_outranks_host", "analytics_disabled", "feedback_mode",
            "managed_settings_applied", "auth_conflict", "unavailable_models", "workspace_trust_recorded",
            "host_worded_asks", "product_feedback_disabled",
        )
    },
    "control_response:error": {"response.error_code"},
    "control_response:success:read_file": {"response.response.requested_path"},
    "control_response:success:interrupt": {
        "response.response.put_back", "response.response.send_now", "response.response.turn"},
}

# Timing information, whose presence depends on the course of a turn.
TIMING_KEYS = {
    "ttft_ms", "ttft_stream_ms", "time_to_request_ms", "request_sent_wall_ms", "first_content_frame_ms",
    "time_to_request_from_spawn_ms", "time_origin_ms", "warm_spare_claimed",
}

# Objects that are data and not structure: tool inputs and outputs, query results, account data.
OPAQUE = {
    "assistant": {"message.content[].input"},
    "user": {"tool_use_result"},
    "result": {"permission_denials[].tool_input", "structured_output", "deferred_tool_use.input"},
    "stream_event": {"event.content_block", "event.delta", "event.context_management"},
    "control_request": {
        "request.input.tool_input", "request.input.tool_response", "request.message.params", "request.message.id"},
    "control_request:can_use_tool": {"request.input"},
    "control_response": {"response.response"},
}

# Objects whose keys are names.
MAPS = {"modelUsage"}

# Significant values; all others may vary.
VALUES: dict[str, list[str]] = {
    "assistant": ["message.role", "message.content[].type", "message.content[].text", "message.content[].name",
                  "error", "aborted"],
    "user": ["message.content[].type", "message.content[].is_error", "message.content[].tool_use_id", "isReplay",
             "isSynthetic"],
    "result": ["is_error", "num_turns", "stop_reason", "terminal_reason", "result_index", "api_error_status",
               "structured_output"],
    "result:success": ["permission_denials[].tool_name"],
    "system:init": ["permissionMode", "model", "apiKeySource", "claude_code_version", "output_style", "cwd"],
    "system:status": ["status", "permissionMode", "compact_result"],
    "system:api_retry": ["attempt", "max_retries", "error_status", "error"],
    "system:permission_denied": ["tool_name", "decision_reason_type"],
    "system:task_started": ["task_type", "is_backgrounded", "description", "subagent_type"],
    "system:task_notification": ["status"],
    "system:compact_boundary": ["compact_metadata.trigger"],
    "control_request:can_use_tool": ["request.tool_name", "request.display_name", "request.description",
                                     "request.tool_use_id"],
    "control_request:hook_callback": ["request.callback_id", "request.input.hook_event_name",
                                      "request.input.tool_name", "request.input.permission_mode"],
    "control_response:error": ["response.error_code"],
}


@dataclass
class Item:
    """One frame, reduced to the compared parts."""

    name: str
    keys: set[str]
    values: dict[str, Any]


def outline(record: Record) -> list[Item]:
    """A run without the parts that may vary. The deltas of a streamed block count as one frame."""
    items: list[Item] = []
    for seen in record.seen:
        if any(is_named(seen.name, internal) for internal in INTERNAL_FRAMES):
            continue
        item = Item(seen.name, keys_of(seen.name, seen.frame), values_of(seen.name, seen.frame))
        if seen.name in STREAMED:
            here = []
            for earlier in reversed(items):
                if earlier.name not in STREAMED:
                    break
                here.append(earlier)
            same = next((earlier for earlier in here if earlier.name == seen.name), None)
            if same:
                same.keys |= item.keys
                continue
        items.append(item)
    return items


def _of(table: dict[str, Any], name: str) -> list[Any]:
    return [value for kind, value in table.items() if is_named(name, kind)]


def keys_of(name: str, frame: dict[str, Any]) -> set[str]:
    """The paths of all public keys."""
    internal = set().union(*_of(INTERNAL_KEYS, name)) | TIMING_KEYS
    opaque = set().union(*_of(OPAQUE, name))
    if is_named(name, "control_response:success:initialize"):
        opaque = {"response.response." + key for key in ("commands", "agents", "models", "account")}
    elif is_named(name, "control_response:success"):
        opaque = {"response.response." + key for key in frame["response"].get("response") or {}}
    found: set[str] = set()

    def walk(value: Any, path: str) -> None:
        if path in opaque:
            return
        if isinstance(value, dict):
            for key, inner in value.items():
                step = f"{path}.{'*' if path in MAPS else key}" if path else key
                if step not in internal:
                    found.add(step)
                    walk(inner, step)
        elif isinstance(value, list):
            for inner in value:
                walk(inner, path + "[]")

    walk(frame, "")
    return found


def values_of(name: str, frame: dict[str, Any]) -> dict[str, Any]:
    """The significant values."""
    values = {path: _at(frame, path) for paths in _of(VALUES, name) for path in paths}
    # The CLI's own texts are not part of the protocol, and the length of an aborted text depends on timing.
    if frame.get("aborted") or _at(frame, "message.model") == "<synthetic>":
        values.pop("message.content[].text", None)
    return values


def _at(value: Any, path: str) -> Any:
    if not path:
        return value
    head, _, rest = path.partition(".")
    many = head.endswith("[]")
    inner = value.get(head.removesuffix("[]")) if isinstance(value, dict) else None
    if many:
        return [_at(each, rest) for each in inner] if isinstance(inner, list) else None
    return _at(inner, rest) if rest else inner


def differences(real: list[Item], other: list[Item], same_place: dict[str, str]) -> list[str]:
    """Differences of the other run from the real one, one sentence each.

    `same_place` replaces the folders of a run, since the two ran in different ones.
    """
    found: list[str] = []
    left, right = [item.name for item in real], [item.name for item in other]
    for tag, a1, a2, b1, b2 in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            for mine, theirs in zip(real[a1:a2], other[b1:b2]):
                found += _inside(mine, theirs, same_place)
            continue
        found += [f"missing frame {name}" for name in left[a1:a2]]
        found += [f"extra frame {name}" for name in right[b1:b2]]
    return list(dict.fromkeys(found))


def _inside(real: Item, other: Item, same_place: dict[str, str]) -> list[str]:
    found = [f"missing key {real.name} {key}" for key in _outermost(real.keys - other.keys)]
    found += [f"extra key {real.name} {key}" for key in _outermost(other.keys - real.keys)]
    for path, expected in real.values.items():
        got = other.values.get(path)
        if isinstance(got, str):
            for theirs, ours in same_place.items():
                got = got.replace(theirs, ours)
        if expected != got:
            found.append(f"other value {real.name} {path}: {expected!r} is {got!r}")
    return found


def _outermost(keys: set[str]) -> list[str]:
    """A missing object is one difference, not one for each key in it."""
    inner = (key for key in sorted(keys))
    kept: list[str] = []
    for key in inner:
        if not any(key.startswith(outer + ".") or key.startswith(outer + "[]") for outer in kept):
            kept.append(key)
    return kept


@dataclass
class Known:
    """An entry of `differences.toml`."""

    what: str
    reason: str
    scenario: str = "*"
    used: bool = field(default=False)

    def covers(self, scenario: str, difference: str) -> bool:
        return _like(self.scenario, scenario) and _like(self.what, difference)


def _like(pattern: str, text: str) -> bool:
    """`*` matches anything; nothing else is special, since names contain brackets."""
    return re.fullmatch(".*".join(re.escape(part) for part in pattern.split("*")), text, re.DOTALL) is not None


class KnownDifferences:
    """The accepted differences, and which of them still occur."""

    def __init__(self, path: Path) -> None:
        table = tomllib.loads(path.read_text()) if path.exists() else {}
        self.entries = [Known(**entry) for entry in table.get("difference", [])]

    def unknown(self, scenario: str, found: list[str]) -> list[str]:
        """The differences that are not listed."""
        left = []
        for difference in found:
            covering = [entry for entry in self.entries if entry.covers(scenario, difference)]
            for entry in covering:
                entry.used = True
            if not covering:
                left.append(difference)
        return left

    def stale(self) -> list[Known]:
        """Listed differences that no longer occur and must be removed."""
        return [entry for entry in self.entries if not entry.used]
