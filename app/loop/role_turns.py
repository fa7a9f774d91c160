"""Asks a role and turns its answer into events."""

import hashlib
import zlib
from dataclasses import asdict
from typing import assert_never

import msgspec

from app.engines.chat_question_and_reply_types import Message, Question
from app.engines.queue import QueuedTurn, TurnRequest
from app.errors import TemperError, is_storage_or_host_connection_fault
from app.events import kinds
from app.events.event_field_types import AnyAction, Decision, Lesson, Purpose, describe_fix_source, fingerprint_actions
from app.events.trace_ids import build_traceparent
from app.loop import answer_schemas, answers, prompts
from app.loop.answer_schemas import Schema, TurnSituation, find_scope_objection
from app.loop.answers import Answer, BrokenAnswer, Inquiry, Plan, Reflection, Review, Triage, Work
from app.loop.attempt_limit import WEIGH_EVERY
from app.loop.effects import Ask, Propose, Repeat, TakeCandidate, TakeVendors, UseSafeDefault
from app.loop.harm_seen_by_probes import find_first_harm
from app.loop.host_inquiry import answer_inquiry
from app.loop.proposals_with_same_lines import list_fingerprints_of_proposals_with_same_lines
from app.loop.proven_fix import build_plan_event
from app.loop.run_in_progress import RoleSeat, Run
from app.loop.turn_context import TurnContext, build_situation
from app.loop.turn_streaming import TurnName, stream_turn
from app.resources.registry import get_prefixed_name_of_changed_resource
from app.resources.vendor_script import LONGEST, create_vendor_action
from app.targets.target import Target
from app.text.clean import clean_text
from app.text.redaction import redact_secrets

_BROKEN_OFF = ("died", "stalled")
"""Outcomes for which the engine may be to blame, or the question."""
TEMPLATE_TOKENS = 60
"""Tokens reserved for the chat template."""


async def ask_role(run: Run, effect: Ask) -> None:
    seat = run.services.seats[effect.role]
    now, prompt, schema = await _build_situation_prompt_and_schema(run, seat, effect.purpose)
    wanted = TurnRequest(run.services.target.name, effect.purpose, _estimate_turn_tokens(seat, prompt), effect.seconds)
    async with seat.queue.hold_turn([replica.base_url for replica in seat.replicas], wanted) as turn:
        if run.state.must_wait_for_resume:
            return  # paused while it waited: asked again when the run resumes
        await _run_turn(run, effect, turn, prompt, schema, now)


async def _run_turn(
    run: Run, effect: Ask, turn: QueuedTurn, prompt: tuple[str, str], schema: Schema, situation: TurnSituation
) -> None:
    seat = run.services.seats[effect.role]
    name = TurnName(f"{run.state.run}.{run.state.seq + 1}", effect.role, effect.purpose)
    run.append(
        kinds.TurnStarted(
            **asdict(name),
            **run.current_attempt_event_fields,
            engine=seat.engine,
            model=seat.model,
            replica=turn.replica,
            max_tokens=seat.max_tokens,
            prompt=prompt,
            prompts=prompts.VERSION,
            waited_ms=round(1000 * (turn.waited + turn.away)),
        )
    )
    finished: kinds.TurnFinished | None = None
    try:
        finished = await stream_turn(
            name,
            seat.replicas[turn.replica],
            _build_question(run, seat, name, prompt, schema),
            run,
            seconds=effect.seconds,
            stall_after=run.state.budget.stall_seconds,
        )
        if finished.outcome in _BROKEN_OFF and not await seat.replicas[turn.replica].is_ready(seat.model):
            finished = msgspec.structs.replace(finished, lost=True)
        await _append_turn_end_and_answer(run, finished, situation)
    finally:
        if finished is None:
            why = "a person stopped the run" if run.state.stopping else "the server shuts down; asked again afterwards"
            run.append(kinds.TurnInterrupted(turn=name.turn, reason=why))


def _estimate_turn_tokens(seat: RoleSeat, prompt: tuple[str, str]) -> int:
    """Return an upper estimate of the turn's tokens in the KV cache."""
    read = sum(map(len, prompt)) // prompts.CHARS_PER_TOKEN + TEMPLATE_TOKENS
    return min(read + seat.max_tokens, seat.max_model_len)


async def _build_situation_prompt_and_schema(
    run: Run, seat: RoleSeat, purpose: Purpose
) -> tuple[TurnSituation, tuple[str, str], Schema]:
    item, attempt, rule = run.item, run.attempt, run.rule

    def prepare_turn_on_target(target: Target) -> tuple[TurnSituation, tuple[str, str], Schema]:
        with target.cache_reads():
            candidates = (
                run.rule_scope.list_candidate_resource_actions(target.files) if purpose in ("plan", "act") else ()
            )
            about = TurnContext(
                item,
                attempt,
                rule,
                target.name,
                target.files,
                target.read_facts(),
                opening=run.state.opening.get(rule.id),
                guided=seat.sampling.guided,
                weighs=attempt.number % WEIGH_EVERY == 0,
                offers=target.list_resources_with_possible_actions(candidates) if candidates else (),
                candidates=candidates,
                recall=target.recall,
                shows_candidates=seat.sampling.candidates,
                asks=seat.sampling.questions,
            )
            now = build_situation(purpose, about)
            ours = prompts.build_system_prompt(
                seat.role, purpose, guided=now.guided, may_ask_about_host=seat.sampling.questions
            )
            room = seat.max_model_len - seat.max_tokens - len(ours) // prompts.CHARS_PER_TOKEN - TEMPLATE_TOKENS
            prompt = ours, prompts.build_user_prompt(purpose, about, room, now)
            return now, prompt, answer_schemas.SCHEMA_BUILDERS[purpose](now)

    return await run.services.target.run_blocking(prepare_turn_on_target)


def _build_question(run: Run, seat: RoleSeat, name: TurnName, prompt: tuple[str, str], schema: Schema) -> Question:
    ours, text = prompt
    return Question(
        model=seat.model,
        messages=(Message("system", ours), Message("user", text)),
        schema_name=name.purpose,
        schema=schema,
        request_id=f"{name.turn}.{seat.role}",
        max_tokens=seat.max_tokens,
        temperature=seat.temperature,
        # The seed differs for each turn, so that a repeated question gets a new answer, yet is reproducible.
        extra=seat.sampling.to_request_fields_besides_temperature() | {"seed": zlib.crc32(name.turn.encode())},
        traceparent=build_traceparent(run.state.run, name.turn) if seat.traced else "",
    )


async def _append_turn_end_and_answer(run: Run, finished: kinds.TurnFinished, situation: TurnSituation) -> None:
    """Append the turn's end and the events of its answer together, so that no crash can separate them."""
    events: list[kinds.Event] = []
    if finished.outcome == "answered":
        try:
            text = finished.answer or finished.thought
            parsed = answers.parse_answer(finished.purpose, text, situation.lines_by_path_and_number)
            answer = answer_schemas.resolve_candidate_paths(parsed, situation)
            if foreign := find_scope_objection(answer, situation):  # before the host is asked anything about it
                reason = f"{foreign.clause}: {redact_secrets(clean_text(foreign.reason, 400))}"
                events = [kinds.AttemptFailed(**run.current_attempt_event_fields, cause="refused", reason=reason)]
            else:
                events = await _convert_answer_to_events(run, answer, situation)
        except BrokenAnswer as exc:
            why = f"{exc} (finish_reason {finished.finish_reason or 'unknown'})"
            finished = msgspec.structs.replace(finished, outcome="broken", detail=why)
    if finished.lost:
        engine = run.services.seats[finished.role].engine
        events = [kinds.RunWaiting(cause="engine", reason=redact_secrets(finished.detail), engine=engine)]
    run.append(finished, *events)


async def _convert_answer_to_events(run: Run, answer: Answer, situation: TurnSituation) -> list[kinds.Event]:
    match answer:
        case Inquiry():
            return [await answer_inquiry(run, answer, situation.may_ask)]
        case Plan():
            return [kinds.PlanMade(**run.current_attempt_event_fields, **msgspec.structs.asdict(answer))]
        case Work():
            return [await _build_proposal(run, answer.actions, answer.note)]
        case Review():
            reason = answer.reason if answer.veto else ""
            explanation, veto = answer.explanation, answer.veto
            return [
                kinds.VerdictExplained(
                    **run.current_attempt_event_fields, explanation=explanation, veto=veto, reason=reason
                )
            ]
        case Triage():
            return [_judge_triage(run, answer)]
        case Reflection():
            return _build_reflection_events(run, answer)
        case _:
            assert_never(answer)


async def propose_edit_of_person(run: Run, _: Propose) -> None:
    edited = run.attempt.edited
    assert edited
    run.append(await _build_proposal(run, edited.actions, edited.reason, edited_by=edited.by))


async def propose_proven_fix(run: Run, _: Repeat) -> None:
    """Propose another host's plan and change unchanged; policy, rehearsal and approval follow as usual."""
    fix = run.attempt.offered
    assert fix
    plan = build_plan_event(fix, run.attempt.number)
    proposed = await _build_proposal(run, fix.actions, fix.note, plan)
    run.append(plan, msgspec.structs.replace(proposed, by=fix.by, replayed=fix.id))


async def propose_candidate(run: Run, effect: TakeCandidate) -> None:
    """Propose a candidate unchanged; policy, approval, scanner and probes follow as usual."""
    one = run.item.candidates[effect.number - 1]
    chosen = _describe_who_chose(run)
    plan = run.attempt.plan
    made = plan or kinds.PlanMade(
        **run.current_attempt_event_fields,
        approach=f"{describe_fix_source(one.source)}.",
        paths=one.places,
        steps=(),
        risk=run.rule.breaks,
        rollback="The host's journal puts back what it changes.",
        validation="The scanner and the host's probes.",
        candidate=effect.number,
        without_role=True,
    )
    proposed = await _build_proposal(run, one.actions, chosen, made)
    proposed = msgspec.structs.replace(proposed, source=one.source)
    run.append(*(() if plan else (made,)), proposed)


def _describe_who_chose(run: Run) -> str:
    if run.state.has_no_model:
        return "taken in the stated order, as no model is asked"
    if run.attempt.why_roles_stopped:
        return "taken in the stated order, after the roles' last attempt"
    return "taken by the Architect"


async def propose_vendor_script(run: Run, _: TakeVendors) -> None:
    """Propose the vendor's script, generated from the content each time."""
    try:
        text = await run.services.scanner.fetch_fix_script(run.rule.id)
    except TemperError as exc:
        if is_storage_or_host_connection_fault(exc):
            raise
        run.append(
            kinds.AttemptFailed(**run.current_attempt_event_fields, cause="engine", reason=redact_secrets(str(exc)))
        )
        return
    if not 0 < len(text) <= LONGEST:
        reason = "the content has no script for it that could be shown whole"
        run.append(kinds.AttemptFailed(**run.current_attempt_event_fields, cause="refused", reason=reason))
        return
    action = create_vendor_action(run.rule.stig_id, text)
    plan = kinds.PlanMade(
        **run.current_attempt_event_fields,
        approach="The vendor's script: OpenSCAP's own remediation of the rule, as a last resort.",
        paths=(get_prefixed_name_of_changed_resource(action),),
        steps=("Run on a copy of the host's files.", "Run once in earnest, where only those files can be written."),
        risk="Nobody here wrote it: read it whole. What it does beside files is not foreseen.",
        rollback="The host's journal puts back files, units and kernel settings that it names.",
        validation="The scanner, the Auditor and the Sentry, as of any change.",
        without_role=True,
    )
    run.append(plan, await _build_proposal(run, (action,), f"vendor's script, sha256 {action.sha256}", plan))


async def _build_proposal(
    run: Run, actions: tuple[AnyAction, ...], note: str, plan: kinds.PlanMade | None = None, *, edited_by: str = ""
) -> kinds.ActionProposed:
    """Assess the actions and return their proposal.

    `plan` is given if it is not in the log yet, `edited_by` if edited.
    """
    assessed = await run.assess_change(run.build_change(actions, plan or run.attempt.plan, by_person=bool(edited_by)))
    return kinds.ActionProposed(
        **run.current_attempt_event_fields,
        actions=actions,
        note=note,
        fingerprint=fingerprint_actions(actions),
        diff=f"(cannot be shown: {assessed.diff_or_obstacle})" if assessed.plan.obstacle else assessed.diff,
        by=edited_by,
        around="" if assessed.plan.obstacle else assessed.around,
    )


def _judge_triage(run: Run, triage: Triage) -> kinds.SentryClear | kinds.SentryAlarm:
    """Return the triage event. A failed probe raises an alarm whatever the Sentry says."""
    if harm := find_harm(run):
        return kinds.SentryAlarm(**run.current_attempt_event_fields, reason=harm, by="probe")
    if triage.alarm:
        return kinds.SentryAlarm(**run.current_attempt_event_fields, reason=triage.reason, by="sentry")
    return kinds.SentryClear(**run.current_attempt_event_fields, assessment=triage.assessment)


def find_harm(run: Run) -> str | None:
    """Return what is worse than before the run, as the probes describe it, or None."""
    probed = run.attempt.probed
    if probed is None or run.state.started is None:
        return None
    return find_first_harm(run.state.baseline_probes, probed.probes) or next(iter(probed.drift), None)


def _build_reflection_events(run: Run, answer: Reflection) -> list[kinds.Event]:
    rule, attempt = run.rule_and_attempt_number
    digest = hashlib.sha256(f"{rule}|{answer.mechanism}|{answer.advice}".encode()).hexdigest()[:12]
    texts = {"mechanism": answer.mechanism, "environment": answer.environment, "advice": answer.advice}
    lesson = kinds.LessonLearnt(**run.current_attempt_event_fields, lesson=Lesson(id=digest, rule=rule, **texts))
    return [
        lesson,
        _build_reflection_event(run, answer.reason, answer.decision if attempt % WEIGH_EVERY == 0 else "CONTINUE"),
    ]


def _build_reflection_event(
    run: Run, reason_for_decision: str, decision: Decision = "CONTINUE"
) -> kinds.AttemptReflected:
    """Return the reflection. It bans an approach that failed here or that a person refused."""
    proposed, failed = run.attempt.proposed, run.attempt.failed
    is_banned = failed and failed.cause not in ("engine", "over budget")
    found = (proposed.fingerprint, *list_fingerprints_of_proposals_with_same_lines(run.item)) if proposed else ()
    banned = tuple(dict.fromkeys(found)) if is_banned else ()
    return kinds.AttemptReflected(
        **run.current_attempt_event_fields, decision=decision, reason=reason_for_decision, banned=banned
    )


_ANSWERS_FOR: dict[Purpose, str] = {"review": "Auditor", "triage": "Sentry", "reflect": "Architect"}


async def continue_without_answer(run: Run, effect: UseSafeDefault) -> None:
    """Use the default for a role without a usable answer: scanner and probes decide, and the log says so."""
    why = "No model is asked" if run.state.has_no_model else f"The {_ANSWERS_FOR[effect.purpose]} gave no usable answer"
    match effect.purpose:
        case "review":
            words = f"{why}; the scanner's verdict stands alone."
            run.append(
                kinds.VerdictExplained(**run.current_attempt_event_fields, explanation=words, veto=False, reason="")
            )
        case "triage":
            words = f"{why}; the probes stand alone."
            run.append(_judge_triage(run, Triage(words, alarm=False)))
        case _:
            run.append(_build_reflection_event(run, _explain_missing_reflection(run)))


def _explain_missing_reflection(run: Run) -> str:
    if run.state.has_no_model:
        return "no model is asked"
    if run.attempt.vendor:
        return "the last resort is nobody's here to learn from"
    if run.attempt.why_roles_stopped:
        return "no role chose it"
    if run.attempt.failed and run.attempt.failed.cause == "engine":
        return "a role without a usable answer teaches nothing about the host"
    if run.attempt.replayed_fix_id:
        return "what held elsewhere never came as far as this host: the roles take over"
    return "the Architect gave no usable reflection"
