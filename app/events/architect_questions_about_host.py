"""What the Architect may ask about a host before it plans: typed questions, answered by reading alone."""

from typing import Annotated, ClassVar, Literal, get_args

from msgspec import Meta, Struct

MOST_QUESTIONS = 3
"""Questions in one attempt."""
MOST_ANSWER = 2000
"""Characters of an answer."""


class HostQuestion(Struct, frozen=True, kw_only=True, tag_field="ask", forbid_unknown_fields=True):
    """A question; `ask` is its tag on the wire. Every word is safe as the argument of a program."""

    hint: ClassVar[str]
    """Its form, for prompts."""

    def describe_what_is_asked(self) -> str:
        """Return what is asked, as the object of a sentence."""
        raise NotImplementedError


class AskFile(HostQuestion, frozen=True, tag="file"):
    hint = "file{path,first}: its lines from number `first`"
    path: Annotated[str, Meta(pattern="^/[A-Za-z0-9_.@/+-]{1,120}$")]
    first: Annotated[int, Meta(ge=1, le=1_000_000)] = 1

    def describe_what_is_asked(self) -> str:
        return f"the file {self.path}" + (f" from line {self.first}" if self.first > 1 else "")


class AskDaemon(HostQuestion, frozen=True, tag="daemon"):
    hint = "daemon{program,user,key}: what sshd or sudo uses for a user; `key` selects one setting"
    program: Literal["sshd", "sudo"]
    user: Annotated[str, Meta(pattern="^[A-Za-z_][A-Za-z0-9_.-]{0,31}$")]
    key: Annotated[str, Meta(pattern="^[A-Za-z0-9]{0,40}$")] = ""

    def describe_what_is_asked(self) -> str:
        return f"{self.key or 'everything'} that {self.program} uses for {self.user}"


class AskUnit(HostQuestion, frozen=True, tag="unit"):
    hint = "unit{unit}: its state"
    unit: Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9@._:-]{0,127}$")]

    def describe_what_is_asked(self) -> str:
        return f"the state of {self.unit}"


class AskPackage(HostQuestion, frozen=True, tag="package"):
    hint = "package{package}: its version and files"
    package: Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9+._-]{0,99}$")]

    def describe_what_is_asked(self) -> str:
        return f"version and files of the package {self.package}"


class AskKernel(HostQuestion, frozen=True, tag="kernel"):
    hint = "kernel{key}: a kernel setting's value"
    key: Annotated[str, Meta(pattern="^[a-z][A-Za-z0-9_./-]{1,127}$")]

    def describe_what_is_asked(self) -> str:
        return f"the kernel's value of {self.key}"


class AskVerdict(HostQuestion, frozen=True, tag="verdict"):
    hint = "verdict{}: the scanner's whole reason"

    def describe_what_is_asked(self) -> str:
        return "the scanner's reason"


class AskUse(HostQuestion, frozen=True, tag="use"):
    hint = "use{word}: the lines in /etc that have this word"
    word: Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9_.@/-]{2,63}$")]

    def describe_what_is_asked(self) -> str:
        return f"who uses {self.word}"


class AskManual(HostQuestion, frozen=True, tag="manual"):
    hint = "manual{page,section}: a heading or an option of a manual page"
    page: Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9+._-]{0,63}$")]
    section: Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9 _-]{0,63}$")]

    def describe_what_is_asked(self) -> str:
        return f"{self.section} in the manual page {self.page}"


Question = AskFile | AskDaemon | AskUnit | AskPackage | AskKernel | AskVerdict | AskUse | AskManual
QUESTIONS: tuple[type[HostQuestion], ...] = get_args(Question)


class AnsweredQuestion(Struct, frozen=True, kw_only=True):
    question: Question
    answer: str
