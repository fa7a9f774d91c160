"""Answers the Architect's questions about the host, within what a role may be shown."""

from app.events.architect_questions_about_host import AnsweredQuestion, AskVerdict
from app.events.kinds import QuestionsAnswered
from app.loop.answers import BrokenAnswer, Inquiry
from app.loop.run_in_progress import Run
from app.targets.architect_answers_from_files import clean_answer, explain_question_refusal
from app.targets.target import Target


async def answer_inquiry(run: Run, inquiry: Inquiry, questions_left: int) -> QuestionsAnswered:
    """Return the questions with their answers. Raises BrokenAnswer for too many, or one that may not be asked."""
    questions, named = inquiry.questions, run.rule.paths
    if len(questions) > questions_left:
        raise BrokenAnswer(f"it asks {len(questions)} questions and may ask {questions_left}")

    def read_on_target(target: Target) -> tuple[str, ...]:
        for one in questions:
            if why := explain_question_refusal(one, target.files, named):
                raise BrokenAnswer(f"a question may not be asked: {why}")
        return target.answer_questions(questions, named)

    told = await run.services.target.run_blocking(read_on_target)
    answers = (
        AnsweredQuestion(
            question=one, answer=_describe_verdicts_on_current_rule(run) if isinstance(one, AskVerdict) else answer
        )
        for one, answer in zip(questions, told, strict=True)
    )
    return QuestionsAnswered(**run.current_attempt_event_fields, answers=tuple(answers), why=inquiry.why)


def _describe_verdicts_on_current_rule(run: Run) -> str:
    """Return the scanner's whole reason, before the run and after the last attempt."""
    opening = run.state.opening.get(run.rule.id)
    lines = []
    if opening:
        place = f" ({opening.path} line {opening.line})" if opening.path and opening.line else ""
        lines.append(f"{opening.scanner} says {opening.word}{place}: {opening.evidence}")
    lines += [f"attempt {one.attempt}: {one.reason}" for one in run.item.failures if one.cause == "scanner"]
    return clean_answer("\n".join(lines))
