"""A method for each operation of the API: of Temper, and of AsyncTemper.

Written by .ci/client from the OpenAPI description; do not edit.
"""

from typing import Any, Literal, Unpack
from urllib.parse import quote

from temper_client import types


class Operations:
    """What is sent; Temper sends it."""

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, Any] | None = None,
        headers: dict[str, Any] | None = None,
        body: Any = None,
        as_file: bool = False,
    ) -> Any:
        raise NotImplementedError

    def index(self) -> types.Index:
        """List every path that can be read, by operation name."""
        answer: types.Index = self._send("GET", "/api/v1")
        return answer

    def start_run(self, *, idempotency_key: str | None = None, **body: Unpack[types.RunOrder]) -> types.Accepted:
        """Start a run."""
        answer: types.Accepted = self._send(
            "POST", "/api/v1/runs", headers={"Idempotency-Key": idempotency_key}, body=dict(body)
        )
        return answer

    def list_runs(
        self,
        *,
        cursor: str | None = None,
        state: Literal["queued", "running", "paused", "finished", "failed", "stopped"] | None = None,
        host: str | None = None,
        tag: str | None = None,
        q: str | None = None,
        limit: int | None = None,
    ) -> types.RunList:
        """List runs, newest first."""
        answer: types.RunList = self._send(
            "GET",
            "/api/v1/runs",
            query={"cursor": cursor, "state": state, "host": host, "tag": tag, "q": q, "limit": limit},
        )
        return answer

    def forecast_run(self, **body: Unpack[types.RunOrder]) -> types.ForecastView:
        """Say what this run would probably do."""
        answer: types.ForecastView = self._send("POST", "/api/v1/runs/forecast", body=dict(body))
        return answer

    def show_run(self, run: str, /) -> types.RunView:
        """Show a run with its state, counts and links."""
        answer: types.RunView = self._send("GET", f"/api/v1/runs/{quote(run, safe='')}")
        return answer

    def change_run(self, run: str, /, **body: Unpack[types.RunChange]) -> types.RunView:
        """Set a run's name and tags, also after it has ended."""
        answer: types.RunView = self._send("PATCH", f"/api/v1/runs/{quote(run, safe='')}", body=dict(body))
        return answer

    def pause_run(self, run: str, /, **body: Unpack[types.CommandRequest]) -> types.CommandAccepted:
        """Pause a run after the turn in progress."""
        answer: types.CommandAccepted = self._send("POST", f"/api/v1/runs/{quote(run, safe='')}/pause", body=dict(body))
        return answer

    def resume_run(self, run: str, /, **body: Unpack[types.CommandRequest]) -> types.CommandAccepted:
        """Resume a paused run."""
        answer: types.CommandAccepted = self._send(
            "POST", f"/api/v1/runs/{quote(run, safe='')}/resume", body=dict(body)
        )
        return answer

    def stop_run(self, run: str, /, **body: Unpack[types.CommandRequest]) -> types.CommandAccepted:
        """Stop a run."""
        answer: types.CommandAccepted = self._send("POST", f"/api/v1/runs/{quote(run, safe='')}/stop", body=dict(body))
        return answer

    def start_rollout(
        self, *, idempotency_key: str | None = None, **body: Unpack[types.RolloutOrder]
    ) -> types.AcceptedRollout:
        """Harden many hosts in waves."""
        answer: types.AcceptedRollout = self._send(
            "POST", "/api/v1/rollouts", headers={"Idempotency-Key": idempotency_key}, body=dict(body)
        )
        return answer

    def list_rollouts(self, *, limit: int | None = None) -> types.RolloutList:
        """List rollouts, newest first."""
        answer: types.RolloutList = self._send("GET", "/api/v1/rollouts", query={"limit": limit})
        return answer

    def show_rollout(self, rollout: str, /) -> types.RolloutStanding:
        """Show a rollout with the state of each host."""
        answer: types.RolloutStanding = self._send("GET", f"/api/v1/rollouts/{quote(rollout, safe='')}")
        return answer

    def pause_rollout(self, rollout: str, /, **body: Unpack[types.CommandRequest]) -> types.RolloutView:
        """Pause a rollout: no further host starts, and its runs pause, each after the change in progress."""
        answer: types.RolloutView = self._send(
            "POST", f"/api/v1/rollouts/{quote(rollout, safe='')}/pause", body=dict(body)
        )
        return answer

    def resume_rollout(self, rollout: str, /, **body: Unpack[types.CommandRequest]) -> types.RolloutView:
        """Resume a rollout."""
        answer: types.RolloutView = self._send(
            "POST", f"/api/v1/rollouts/{quote(rollout, safe='')}/resume", body=dict(body)
        )
        return answer

    def stop_rollout(self, rollout: str, /, **body: Unpack[types.CommandRequest]) -> types.RolloutView:
        """Stop a rollout: no further host starts, and its runs stop; a change in progress is undone."""
        answer: types.RolloutView = self._send(
            "POST", f"/api/v1/rollouts/{quote(rollout, safe='')}/stop", body=dict(body)
        )
        return answer

    def take_rollout_evidence(self, rollout: str, /) -> bytes:
        """Download the evidence.zip of each run, the rollout's own log and an index."""
        answer: bytes = self._send("GET", f"/api/v1/rollouts/{quote(rollout, safe='')}/evidence.zip", as_file=True)
        return answer

    def list_items(self, run: str, /) -> types.ItemList:
        """List the findings of the opening scan, in the order in which they are worked on."""
        answer: types.ItemList = self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/items")
        return answer

    def show_item(self, run: str, rule: str, /) -> types.ItemStory:
        """Show every attempt at one rule of a run."""
        answer: types.ItemStory = self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/items/{quote(rule, safe='')}")
        return answer

    def show_energy(self, run: str, /) -> types.RunEnergy:
        """GPU-seconds and joules of a run, per role."""
        answer: types.RunEnergy = self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/energy")
        return answer

    def list_events(
        self, run: str, /, *, since: int | None = None, limit: int | None = None, kind: str | None = None
    ) -> types.EventList:
        """List events in order."""
        answer: types.EventList = self._send(
            "GET", f"/api/v1/runs/{quote(run, safe='')}/events", query={"since": since, "limit": limit, "kind": kind}
        )
        return answer

    def take_pack(self, run: str, /) -> bytes:
        """Download everything a third party needs to verify the run offline."""
        answer: bytes = self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/evidence.zip", as_file=True)
        return answer

    def take_cklb(self, run: str, /) -> bytes:
        """Checklist for STIG Viewer 3, CKLB 1.0."""
        answer: bytes = self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/checklist.cklb", as_file=True)
        return answer

    def take_ckl(self, run: str, /) -> bytes:
        """Checklist for STIG Viewer 2 and what reads its XML."""
        answer: bytes = self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/checklist.ckl", as_file=True)
        return answer

    def take_arf(self, run: str, /) -> bytes:
        """The verdicts before and after, as XCCDF results in ARF."""
        answer: bytes = self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/results.arf.xml", as_file=True)
        return answer

    def take_xccdf(self, run: str, /) -> bytes:
        """The last scan's verdicts as XCCDF results, alone."""
        answer: bytes = self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/results.xccdf.xml", as_file=True)
        return answer

    def take_poam_csv(self, run: str, /) -> bytes:
        """Plan of action and milestones: what is left, as a table."""
        answer: bytes = self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/poam.csv", as_file=True)
        return answer

    def take_poam_json(self, run: str, /) -> bytes:
        """Plan of action and milestones, as JSON."""
        answer: bytes = self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/poam.json", as_file=True)
        return answer

    def take_poam_emass(self, run: str, /) -> bytes:
        """The same plan under eMASS' headings."""
        answer: bytes = self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/poam.emass.csv", as_file=True)
        return answer

    def take_oscal_poam(self, run: str, /) -> bytes:
        """The same plan as OSCAL 1.1."""
        answer: bytes = self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/poam.oscal.json", as_file=True)
        return answer

    def take_oscal_ar(self, run: str, /) -> bytes:
        """The verdicts as OSCAL 1.1."""
        answer: bytes = self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/results.oscal.json", as_file=True)
        return answer

    def take_ansible(self, run: str, /) -> bytes:
        """What passed, as an Ansible role."""
        answer: bytes = self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/playbook.zip", as_file=True)
        return answer

    def take_bash(self, run: str, /) -> bytes:
        """What passed, as a bash script."""
        answer: bytes = self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/harden.sh", as_file=True)
        return answer

    def take_report(self, run: str, /) -> bytes:
        """The report, one page that prints."""
        answer: bytes = self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/report.html", as_file=True)
        return answer

    def show_key(self) -> types.KeyView:
        """Show the public key that signs evidence, for pinning."""
        answer: types.KeyView = self._send("GET", "/api/v1/key")
        return answer

    def list_approvals(self) -> types.ApprovalList:
        """List the changes that wait for approval."""
        answer: types.ApprovalList = self._send("GET", "/api/v1/approvals")
        return answer

    def answer_approval(self, approval: str, /, **body: Unpack[types.Answer]) -> types.Answered:
        """Approve, refuse or edit a change; the first answer counts."""
        answer: types.Answered = self._send("POST", f"/api/v1/approvals/{quote(approval, safe='')}", body=dict(body))
        return answer

    def list_inbox(self) -> types.InboxView:
        """List everything that waits for a person, with the answers that you can give."""
        answer: types.InboxView = self._send("GET", "/api/v1/inbox")
        return answer

    def list_engines(self) -> types.EngineList:
        """List the engines of the line-up with their current figures."""
        answer: types.EngineList = self._send("GET", "/api/v1/engines")
        return answer

    def show_engine(self, engine: str, /) -> types.EngineView:
        """Show one engine with its current figures."""
        answer: types.EngineView = self._send("GET", f"/api/v1/engines/{quote(engine, safe='')}")
        return answer

    def start_engine(self, engine: str, /) -> types.EngineView:
        """Start all replicas of an engine."""
        answer: types.EngineView = self._send("POST", f"/api/v1/engines/{quote(engine, safe='')}/start")
        return answer

    def stop_engine(self, engine: str, /) -> types.EngineView:
        """Stop all replicas of an engine and all processes they started."""
        answer: types.EngineView = self._send("POST", f"/api/v1/engines/{quote(engine, safe='')}/stop")
        return answer

    def show_lineup(self) -> types.LineupView:
        """Show which roles use which engines on which GPUs."""
        answer: types.LineupView = self._send("GET", "/api/v1/lineup")
        return answer

    def plan_lineup(self, *, lineup: str | None = None) -> types.PlanList:
        """Estimate if the engines of a line-up fit their GPUs, and how fast they can be."""
        answer: types.PlanList = self._send("GET", "/api/v1/lineup/plan", query={"lineup": lineup})
        return answer

    def inspect_own_server(self, **body: Unpack[types.OwnServerOrder]) -> types.OwnServerView:
        """Ask a model server what it can do."""
        answer: types.OwnServerView = self._send("POST", "/api/v1/lineup/server", body=dict(body))
        return answer

    def forget_own_server(self) -> types.LineupChangeView:
        """Go back to the line-up that Temper was started with, from the next run on."""
        answer: types.LineupChangeView = self._send("DELETE", "/api/v1/lineup/server")
        return answer

    def seat_own_server(self, **body: Unpack[types.ModelSeats]) -> types.LineupChangeView:
        """Use the models of an inspected server from the next run on."""
        answer: types.LineupChangeView = self._send("POST", "/api/v1/lineup/seats", body=dict(body))
        return answer

    def list_probes(
        self, *, lineup: str | None = None, engine: str | None = None, limit: int | None = None
    ) -> types.ProbeList:
        """List measurements of engines, newest first."""
        answer: types.ProbeList = self._send(
            "GET", "/api/v1/probes", query={"lineup": lineup, "engine": engine, "limit": limit}
        )
        return answer

    def start_probe(self, **body: Unpack[types.ProbeOrder]) -> types.ProbeList:
        """Start a probe."""
        answer: types.ProbeList = self._send("POST", "/api/v1/probes", body=dict(body))
        return answer

    def list_gpus(self, *, seconds: int | None = None) -> types.GpuList:
        """List the GPUs with every sensor, its source and its age."""
        answer: types.GpuList = self._send("GET", "/api/v1/gpus", query={"seconds": seconds})
        return answer

    def list_samples(
        self,
        *,
        since: str | None = None,
        until: str | None = None,
        step: float | None = None,
        kind: str | None = None,
        engine: str | None = None,
        gpu: str | None = None,
        figure: str | None = None,
        run: str | None = None,
    ) -> types.Samples:
        """List samples."""
        answer: types.Samples = self._send(
            "GET",
            "/api/v1/samples",
            query={
                "since": since,
                "until": until,
                "step": step,
                "kind": kind,
                "engine": engine,
                "gpu": gpu,
                "figure": figure,
                "run": run,
            },
        )
        return answer

    def list_hosts(self) -> types.HostList:
        """List the hosts that can be hardened."""
        answer: types.HostList = self._send("GET", "/api/v1/hosts")
        return answer

    def add_host(self, **body: Unpack[types.HostOrder]) -> types.HostView:
        """Add a host over SSH, after its key is accepted, a login works and a change could be rolled back there."""
        answer: types.HostView = self._send("POST", "/api/v1/hosts", body=dict(body))
        return answer

    def show_host(self, host: str, /) -> types.HostView:
        """Show one host."""
        answer: types.HostView = self._send("GET", f"/api/v1/hosts/{quote(host, safe='')}")
        return answer

    def remove_host(self, host: str, /) -> None:
        """Remove a host that was added."""
        self._send("DELETE", f"/api/v1/hosts/{quote(host, safe='')}")

    def scan_host(self, host: str, /, *, skill: str | None = None) -> types.ScanView:
        """Scan a host now."""
        answer: types.ScanView = self._send(
            "POST", f"/api/v1/hosts/{quote(host, safe='')}/scan", query={"skill": skill}
        )
        return answer

    def list_groups(self) -> types.GroupList:
        """List the groups of hosts."""
        answer: types.GroupList = self._send("GET", "/api/v1/groups")
        return answer

    def keep_group(self, group: str, /, **body: Unpack[types.GroupOrder]) -> types.GroupView:
        """Set the hosts of a group, replacing those it had."""
        answer: types.GroupView = self._send("PUT", f"/api/v1/groups/{quote(group, safe='')}", body=dict(body))
        return answer

    def delete_group(self, group: str, /) -> None:
        """Delete a group."""
        self._send("DELETE", f"/api/v1/groups/{quote(group, safe='')}")

    def list_rules(self, *, skill: str | None = None) -> types.RuleList:
        """List the rules of a skill."""
        answer: types.RuleList = self._send("GET", "/api/v1/rules", query={"skill": skill})
        return answer

    def show_rule(self, rule: str, /, *, skill: str | None = None) -> types.RuleView:
        """Show one rule with its texts."""
        answer: types.RuleView = self._send("GET", f"/api/v1/rules/{quote(rule, safe='')}", query={"skill": skill})
        return answer

    def list_lessons(
        self, *, rule: str | None = None, q: str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> types.LessonList:
        """List lessons, newest first."""
        answer: types.LessonList = self._send(
            "GET", "/api/v1/lessons", query={"rule": rule, "q": q, "cursor": cursor, "limit": limit}
        )
        return answer

    def list_schedules(self) -> types.ScheduleList:
        """List the schedules."""
        answer: types.ScheduleList = self._send("GET", "/api/v1/schedules")
        return answer

    def add_schedule(self, **body: Unpack[types.ScheduleOrder]) -> types.ScheduleView:
        """Add a schedule, which starts runs at set times."""
        answer: types.ScheduleView = self._send("POST", "/api/v1/schedules", body=dict(body))
        return answer

    def show_schedule(self, schedule: str, /) -> types.ScheduleView:
        """Show a schedule with the outcome of its last time."""
        answer: types.ScheduleView = self._send("GET", f"/api/v1/schedules/{quote(schedule, safe='')}")
        return answer

    def delete_schedule(self, schedule: str, /) -> None:
        """Delete a schedule."""
        self._send("DELETE", f"/api/v1/schedules/{quote(schedule, safe='')}")

    def handle_schedule(self, schedule: str, verb: Literal["pause", "resume"], /) -> types.ScheduleView:
        """Pause or resume a schedule."""
        answer: types.ScheduleView = self._send(
            "POST", f"/api/v1/schedules/{quote(schedule, safe='')}/{quote(verb, safe='')}"
        )
        return answer

    def list_waivers(self, *, in_force: bool | None = None) -> types.WaiverList:
        """List waivers, those that end first first."""
        answer: types.WaiverList = self._send("GET", "/api/v1/waivers", query={"in_force": in_force})
        return answer

    def add_waiver(self, **body: Unpack[types.WaiverOrder]) -> types.WaiverView:
        """Add a waiver."""
        answer: types.WaiverView = self._send("POST", "/api/v1/waivers", body=dict(body))
        return answer

    def show_waiver(self, waiver: str, /) -> types.WaiverView:
        """Show a waiver."""
        answer: types.WaiverView = self._send("GET", f"/api/v1/waivers/{quote(waiver, safe='')}")
        return answer

    def take_waiver_back(self, waiver: str, /, **body: Unpack[types.WaiverEnd]) -> types.WaiverView:
        """End a waiver before its date."""
        answer: types.WaiverView = self._send("POST", f"/api/v1/waivers/{quote(waiver, safe='')}/end", body=dict(body))
        return answer

    def list_tailorings(self) -> types.TailoringList:
        """List the profiles of every tailoring added to this machine."""
        answer: types.TailoringList = self._send("GET", "/api/v1/tailorings")
        return answer

    def add_tailoring(self, **body: Unpack[types.TailoringOrder]) -> types.TailoringList:
        """Add a tailoring."""
        answer: types.TailoringList = self._send("POST", "/api/v1/tailorings", body=dict(body))
        return answer

    def take_tailoring_out(
        self, *, skill: str, host: str | None = None, group: str | None = None, rules: str | None = None
    ) -> bytes:
        """Export waivers, site values and selected rules as an xccdf:Tailoring, for OpenSCAP elsewhere."""
        answer: bytes = self._send(
            "GET",
            "/api/v1/tailoring.xml",
            query={"skill": skill, "host": host, "group": group, "rules": rules},
            as_file=True,
        )
        return answer

    def list_parameters(self, *, skill: str | None = None, host: str | None = None) -> types.ParameterList:
        """List all parameters of a skill's rules."""
        answer: types.ParameterList = self._send("GET", "/api/v1/parameters", query={"skill": skill, "host": host})
        return answer

    def put_parameter(self, parameter: str, /, **body: Unpack[types.ParameterOrder]) -> types.ParameterSet:
        """Set a value for runs that start from now on."""
        answer: types.ParameterSet = self._send(
            "PUT", f"/api/v1/parameters/{quote(parameter, safe='')}", body=dict(body)
        )
        return answer

    def delete_parameter(
        self, parameter: str, /, *, skill: str | None = None, host: str | None = None, group: str | None = None
    ) -> None:
        """Remove a value; the next nearest one applies again."""
        self._send(
            "DELETE",
            f"/api/v1/parameters/{quote(parameter, safe='')}",
            query={"skill": skill, "host": host, "group": group},
        )

    def list_webhooks(self) -> types.WebhookList:
        """List the webhooks."""
        answer: types.WebhookList = self._send("GET", "/api/v1/webhooks")
        return answer

    def add_webhook(self, **body: Unpack[types.WebhookOrder]) -> types.NewWebhook:
        """Add a webhook."""
        answer: types.NewWebhook = self._send("POST", "/api/v1/webhooks", body=dict(body))
        return answer

    def show_webhook(self, webhook: str, /) -> types.WebhookView:
        """Show a webhook with its deliveries."""
        answer: types.WebhookView = self._send("GET", f"/api/v1/webhooks/{quote(webhook, safe='')}")
        return answer

    def change_webhook(self, webhook: str, /, **body: Unpack[types.WebhookChange]) -> types.WebhookView:
        """Change whether it may lead to non-public addresses, or its body template."""
        answer: types.WebhookView = self._send("PATCH", f"/api/v1/webhooks/{quote(webhook, safe='')}", body=dict(body))
        return answer

    def delete_webhook(self, webhook: str, /) -> None:
        """Delete a webhook."""
        self._send("DELETE", f"/api/v1/webhooks/{quote(webhook, safe='')}")

    def try_webhook(self, webhook: str, /) -> types.WebhookTrial:
        """Send one signed test delivery of type temper.test now, and return the result."""
        answer: types.WebhookTrial = self._send("POST", f"/api/v1/webhooks/{quote(webhook, safe='')}/test")
        return answer

    def send_again(self, webhook: str, /, **body: Unpack[types.Redelivery]) -> types.WebhookView:
        """Send all matching events of one run or rollout again, from the first, with the same ids."""
        answer: types.WebhookView = self._send(
            "POST", f"/api/v1/webhooks/{quote(webhook, safe='')}/again", body=dict(body)
        )
        return answer

    def who_am_i(self) -> types.Me:
        """Show who you are, and with which right."""
        answer: types.Me = self._send("GET", "/api/v1/me")
        return answer

    def list_people(self) -> types.PersonList:
        """List the people who can sign in."""
        answer: types.PersonList = self._send("GET", "/api/v1/people")
        return answer

    def add_person(self, **body: Unpack[types.NewPerson]) -> types.PersonView:
        """Add a person, who can sign in with the password."""
        answer: types.PersonView = self._send("POST", "/api/v1/people", body=dict(body))
        return answer

    def disable_person(self, name: str, /) -> None:
        """Disable a person."""
        self._send("DELETE", f"/api/v1/people/{quote(name, safe='')}")

    def list_tokens(self) -> types.TokenList:
        """List tokens and links, without their secrets."""
        answer: types.TokenList = self._send("GET", "/api/v1/tokens")
        return answer

    def make_token(self, **body: Unpack[types.NewToken]) -> types.MadeToken:
        """Create a token."""
        answer: types.MadeToken = self._send("POST", "/api/v1/tokens", body=dict(body))
        return answer

    def end_token(self, token: str, /) -> None:
        """End a token or a link at once."""
        self._send("DELETE", f"/api/v1/tokens/{quote(token, safe='')}")

    def make_link(self, **body: Unpack[types.NewLink]) -> types.MadeLink:
        """Create a link that shows one run, read-only, until it expires."""
        answer: types.MadeLink = self._send("POST", "/api/v1/links", body=dict(body))
        return answer

    def list_audit(self, *, before: int | None = None, limit: int | None = None) -> types.AuditList:
        """List who did what from where, newest first."""
        answer: types.AuditList = self._send("GET", "/api/v1/audit", query={"before": before, "limit": limit})
        return answer

    def show_usage(
        self, *, since: str | None = None, until: str | None = None, per: Literal["day", "month"] | None = None
    ) -> types.UsageList:
        """List tokens, GPU-seconds and joules per person and API token."""
        answer: types.UsageList = self._send("GET", "/api/v1/usage", query={"since": since, "until": until, "per": per})
        return answer

    def export_usage(
        self, *, since: str | None = None, until: str | None = None, per: Literal["day", "month"] | None = None
    ) -> bytes:
        """The same lines as CSV."""
        answer: bytes = self._send(
            "GET", "/api/v1/usage.csv", query={"since": since, "until": until, "per": per}, as_file=True
        )
        return answer

    def list_nodes(self) -> types.NodeList:
        """List the nodes at work, oldest first."""
        answer: types.NodeList = self._send("GET", "/api/v1/nodes")
        return answer

    def healthz(self) -> types.Alive:
        """Return 200 if the process answers."""
        answer: types.Alive = self._send("GET", "/healthz")
        return answer

    def readyz(self) -> types.Readiness:
        """Return 200 if log and data folder can be written, no frozen process locks a host and engines with a role serve."""
        answer: types.Readiness = self._send("GET", "/readyz")
        return answer

    def metrics(self) -> bytes:
        """Export metrics in the text format of Prometheus."""
        answer: bytes = self._send("GET", "/metrics", as_file=True)
        return answer

    def take_shared_file(self, run: str, /, *, prompts: bool | None = None) -> bytes:
        """Download the run as one HTML file that plays and checks itself, without a server or a network."""
        answer: bytes = self._send(
            "GET", f"/api/v1/runs/{quote(run, safe='')}/shared.html", query={"prompts": prompts}, as_file=True
        )
        return answer


class AsyncOperations:
    """What is sent; AsyncTemper sends it."""

    async def _send(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, Any] | None = None,
        headers: dict[str, Any] | None = None,
        body: Any = None,
        as_file: bool = False,
    ) -> Any:
        raise NotImplementedError

    async def index(self) -> types.Index:
        """List every path that can be read, by operation name."""
        answer: types.Index = await self._send("GET", "/api/v1")
        return answer

    async def start_run(self, *, idempotency_key: str | None = None, **body: Unpack[types.RunOrder]) -> types.Accepted:
        """Start a run."""
        answer: types.Accepted = await self._send(
            "POST", "/api/v1/runs", headers={"Idempotency-Key": idempotency_key}, body=dict(body)
        )
        return answer

    async def list_runs(
        self,
        *,
        cursor: str | None = None,
        state: Literal["queued", "running", "paused", "finished", "failed", "stopped"] | None = None,
        host: str | None = None,
        tag: str | None = None,
        q: str | None = None,
        limit: int | None = None,
    ) -> types.RunList:
        """List runs, newest first."""
        answer: types.RunList = await self._send(
            "GET",
            "/api/v1/runs",
            query={"cursor": cursor, "state": state, "host": host, "tag": tag, "q": q, "limit": limit},
        )
        return answer

    async def forecast_run(self, **body: Unpack[types.RunOrder]) -> types.ForecastView:
        """Say what this run would probably do."""
        answer: types.ForecastView = await self._send("POST", "/api/v1/runs/forecast", body=dict(body))
        return answer

    async def show_run(self, run: str, /) -> types.RunView:
        """Show a run with its state, counts and links."""
        answer: types.RunView = await self._send("GET", f"/api/v1/runs/{quote(run, safe='')}")
        return answer

    async def change_run(self, run: str, /, **body: Unpack[types.RunChange]) -> types.RunView:
        """Set a run's name and tags, also after it has ended."""
        answer: types.RunView = await self._send("PATCH", f"/api/v1/runs/{quote(run, safe='')}", body=dict(body))
        return answer

    async def pause_run(self, run: str, /, **body: Unpack[types.CommandRequest]) -> types.CommandAccepted:
        """Pause a run after the turn in progress."""
        answer: types.CommandAccepted = await self._send(
            "POST", f"/api/v1/runs/{quote(run, safe='')}/pause", body=dict(body)
        )
        return answer

    async def resume_run(self, run: str, /, **body: Unpack[types.CommandRequest]) -> types.CommandAccepted:
        """Resume a paused run."""
        answer: types.CommandAccepted = await self._send(
            "POST", f"/api/v1/runs/{quote(run, safe='')}/resume", body=dict(body)
        )
        return answer

    async def stop_run(self, run: str, /, **body: Unpack[types.CommandRequest]) -> types.CommandAccepted:
        """Stop a run."""
        answer: types.CommandAccepted = await self._send(
            "POST", f"/api/v1/runs/{quote(run, safe='')}/stop", body=dict(body)
        )
        return answer

    async def start_rollout(
        self, *, idempotency_key: str | None = None, **body: Unpack[types.RolloutOrder]
    ) -> types.AcceptedRollout:
        """Harden many hosts in waves."""
        answer: types.AcceptedRollout = await self._send(
            "POST", "/api/v1/rollouts", headers={"Idempotency-Key": idempotency_key}, body=dict(body)
        )
        return answer

    async def list_rollouts(self, *, limit: int | None = None) -> types.RolloutList:
        """List rollouts, newest first."""
        answer: types.RolloutList = await self._send("GET", "/api/v1/rollouts", query={"limit": limit})
        return answer

    async def show_rollout(self, rollout: str, /) -> types.RolloutStanding:
        """Show a rollout with the state of each host."""
        answer: types.RolloutStanding = await self._send("GET", f"/api/v1/rollouts/{quote(rollout, safe='')}")
        return answer

    async def pause_rollout(self, rollout: str, /, **body: Unpack[types.CommandRequest]) -> types.RolloutView:
        """Pause a rollout: no further host starts, and its runs pause, each after the change in progress."""
        answer: types.RolloutView = await self._send(
            "POST", f"/api/v1/rollouts/{quote(rollout, safe='')}/pause", body=dict(body)
        )
        return answer

    async def resume_rollout(self, rollout: str, /, **body: Unpack[types.CommandRequest]) -> types.RolloutView:
        """Resume a rollout."""
        answer: types.RolloutView = await self._send(
            "POST", f"/api/v1/rollouts/{quote(rollout, safe='')}/resume", body=dict(body)
        )
        return answer

    async def stop_rollout(self, rollout: str, /, **body: Unpack[types.CommandRequest]) -> types.RolloutView:
        """Stop a rollout: no further host starts, and its runs stop; a change in progress is undone."""
        answer: types.RolloutView = await self._send(
            "POST", f"/api/v1/rollouts/{quote(rollout, safe='')}/stop", body=dict(body)
        )
        return answer

    async def take_rollout_evidence(self, rollout: str, /) -> bytes:
        """Download the evidence.zip of each run, the rollout's own log and an index."""
        answer: bytes = await self._send(
            "GET", f"/api/v1/rollouts/{quote(rollout, safe='')}/evidence.zip", as_file=True
        )
        return answer

    async def list_items(self, run: str, /) -> types.ItemList:
        """List the findings of the opening scan, in the order in which they are worked on."""
        answer: types.ItemList = await self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/items")
        return answer

    async def show_item(self, run: str, rule: str, /) -> types.ItemStory:
        """Show every attempt at one rule of a run."""
        answer: types.ItemStory = await self._send(
            "GET", f"/api/v1/runs/{quote(run, safe='')}/items/{quote(rule, safe='')}"
        )
        return answer

    async def show_energy(self, run: str, /) -> types.RunEnergy:
        """GPU-seconds and joules of a run, per role."""
        answer: types.RunEnergy = await self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/energy")
        return answer

    async def list_events(
        self, run: str, /, *, since: int | None = None, limit: int | None = None, kind: str | None = None
    ) -> types.EventList:
        """List events in order."""
        answer: types.EventList = await self._send(
            "GET", f"/api/v1/runs/{quote(run, safe='')}/events", query={"since": since, "limit": limit, "kind": kind}
        )
        return answer

    async def take_pack(self, run: str, /) -> bytes:
        """Download everything a third party needs to verify the run offline."""
        answer: bytes = await self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/evidence.zip", as_file=True)
        return answer

    async def take_cklb(self, run: str, /) -> bytes:
        """Checklist for STIG Viewer 3, CKLB 1.0."""
        answer: bytes = await self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/checklist.cklb", as_file=True)
        return answer

    async def take_ckl(self, run: str, /) -> bytes:
        """Checklist for STIG Viewer 2 and what reads its XML."""
        answer: bytes = await self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/checklist.ckl", as_file=True)
        return answer

    async def take_arf(self, run: str, /) -> bytes:
        """The verdicts before and after, as XCCDF results in ARF."""
        answer: bytes = await self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/results.arf.xml", as_file=True)
        return answer

    async def take_xccdf(self, run: str, /) -> bytes:
        """The last scan's verdicts as XCCDF results, alone."""
        answer: bytes = await self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/results.xccdf.xml", as_file=True)
        return answer

    async def take_poam_csv(self, run: str, /) -> bytes:
        """Plan of action and milestones: what is left, as a table."""
        answer: bytes = await self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/poam.csv", as_file=True)
        return answer

    async def take_poam_json(self, run: str, /) -> bytes:
        """Plan of action and milestones, as JSON."""
        answer: bytes = await self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/poam.json", as_file=True)
        return answer

    async def take_poam_emass(self, run: str, /) -> bytes:
        """The same plan under eMASS' headings."""
        answer: bytes = await self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/poam.emass.csv", as_file=True)
        return answer

    async def take_oscal_poam(self, run: str, /) -> bytes:
        """The same plan as OSCAL 1.1."""
        answer: bytes = await self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/poam.oscal.json", as_file=True)
        return answer

    async def take_oscal_ar(self, run: str, /) -> bytes:
        """The verdicts as OSCAL 1.1."""
        answer: bytes = await self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/results.oscal.json", as_file=True)
        return answer

    async def take_ansible(self, run: str, /) -> bytes:
        """What passed, as an Ansible role."""
        answer: bytes = await self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/playbook.zip", as_file=True)
        return answer

    async def take_bash(self, run: str, /) -> bytes:
        """What passed, as a bash script."""
        answer: bytes = await self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/harden.sh", as_file=True)
        return answer

    async def take_report(self, run: str, /) -> bytes:
        """The report, one page that prints."""
        answer: bytes = await self._send("GET", f"/api/v1/runs/{quote(run, safe='')}/report.html", as_file=True)
        return answer

    async def show_key(self) -> types.KeyView:
        """Show the public key that signs evidence, for pinning."""
        answer: types.KeyView = await self._send("GET", "/api/v1/key")
        return answer

    async def list_approvals(self) -> types.ApprovalList:
        """List the changes that wait for approval."""
        answer: types.ApprovalList = await self._send("GET", "/api/v1/approvals")
        return answer

    async def answer_approval(self, approval: str, /, **body: Unpack[types.Answer]) -> types.Answered:
        """Approve, refuse or edit a change; the first answer counts."""
        answer: types.Answered = await self._send(
            "POST", f"/api/v1/approvals/{quote(approval, safe='')}", body=dict(body)
        )
        return answer

    async def list_inbox(self) -> types.InboxView:
        """List everything that waits for a person, with the answers that you can give."""
        answer: types.InboxView = await self._send("GET", "/api/v1/inbox")
        return answer

    async def list_engines(self) -> types.EngineList:
        """List the engines of the line-up with their current figures."""
        answer: types.EngineList = await self._send("GET", "/api/v1/engines")
        return answer

    async def show_engine(self, engine: str, /) -> types.EngineView:
        """Show one engine with its current figures."""
        answer: types.EngineView = await self._send("GET", f"/api/v1/engines/{quote(engine, safe='')}")
        return answer

    async def start_engine(self, engine: str, /) -> types.EngineView:
        """Start all replicas of an engine."""
        answer: types.EngineView = await self._send("POST", f"/api/v1/engines/{quote(engine, safe='')}/start")
        return answer

    async def stop_engine(self, engine: str, /) -> types.EngineView:
        """Stop all replicas of an engine and all processes they started."""
        answer: types.EngineView = await self._send("POST", f"/api/v1/engines/{quote(engine, safe='')}/stop")
        return answer

    async def show_lineup(self) -> types.LineupView:
        """Show which roles use which engines on which GPUs."""
        answer: types.LineupView = await self._send("GET", "/api/v1/lineup")
        return answer

    async def plan_lineup(self, *, lineup: str | None = None) -> types.PlanList:
        """Estimate if the engines of a line-up fit their GPUs, and how fast they can be."""
        answer: types.PlanList = await self._send("GET", "/api/v1/lineup/plan", query={"lineup": lineup})
        return answer

    async def inspect_own_server(self, **body: Unpack[types.OwnServerOrder]) -> types.OwnServerView:
        """Ask a model server what it can do."""
        answer: types.OwnServerView = await self._send("POST", "/api/v1/lineup/server", body=dict(body))
        return answer

    async def forget_own_server(self) -> types.LineupChangeView:
        """Go back to the line-up that Temper was started with, from the next run on."""
        answer: types.LineupChangeView = await self._send("DELETE", "/api/v1/lineup/server")
        return answer

    async def seat_own_server(self, **body: Unpack[types.ModelSeats]) -> types.LineupChangeView:
        """Use the models of an inspected server from the next run on."""
        answer: types.LineupChangeView = await self._send("POST", "/api/v1/lineup/seats", body=dict(body))
        return answer

    async def list_probes(
        self, *, lineup: str | None = None, engine: str | None = None, limit: int | None = None
    ) -> types.ProbeList:
        """List measurements of engines, newest first."""
        answer: types.ProbeList = await self._send(
            "GET", "/api/v1/probes", query={"lineup": lineup, "engine": engine, "limit": limit}
        )
        return answer

    async def start_probe(self, **body: Unpack[types.ProbeOrder]) -> types.ProbeList:
        """Start a probe."""
        answer: types.ProbeList = await self._send("POST", "/api/v1/probes", body=dict(body))
        return answer

    async def list_gpus(self, *, seconds: int | None = None) -> types.GpuList:
        """List the GPUs with every sensor, its source and its age."""
        answer: types.GpuList = await self._send("GET", "/api/v1/gpus", query={"seconds": seconds})
        return answer

    async def list_samples(
        self,
        *,
        since: str | None = None,
        until: str | None = None,
        step: float | None = None,
        kind: str | None = None,
        engine: str | None = None,
        gpu: str | None = None,
        figure: str | None = None,
        run: str | None = None,
    ) -> types.Samples:
        """List samples."""
        answer: types.Samples = await self._send(
            "GET",
            "/api/v1/samples",
            query={
                "since": since,
                "until": until,
                "step": step,
                "kind": kind,
                "engine": engine,
                "gpu": gpu,
                "figure": figure,
                "run": run,
            },
        )
        return answer

    async def list_hosts(self) -> types.HostList:
        """List the hosts that can be hardened."""
        answer: types.HostList = await self._send("GET", "/api/v1/hosts")
        return answer

    async def add_host(self, **body: Unpack[types.HostOrder]) -> types.HostView:
        """Add a host over SSH, after its key is accepted, a login works and a change could be rolled back there."""
        answer: types.HostView = await self._send("POST", "/api/v1/hosts", body=dict(body))
        return answer

    async def show_host(self, host: str, /) -> types.HostView:
        """Show one host."""
        answer: types.HostView = await self._send("GET", f"/api/v1/hosts/{quote(host, safe='')}")
        return answer

    async def remove_host(self, host: str, /) -> None:
        """Remove a host that was added."""
        await self._send("DELETE", f"/api/v1/hosts/{quote(host, safe='')}")

    async def scan_host(self, host: str, /, *, skill: str | None = None) -> types.ScanView:
        """Scan a host now."""
        answer: types.ScanView = await self._send(
            "POST", f"/api/v1/hosts/{quote(host, safe='')}/scan", query={"skill": skill}
        )
        return answer

    async def list_groups(self) -> types.GroupList:
        """List the groups of hosts."""
        answer: types.GroupList = await self._send("GET", "/api/v1/groups")
        return answer

    async def keep_group(self, group: str, /, **body: Unpack[types.GroupOrder]) -> types.GroupView:
        """Set the hosts of a group, replacing those it had."""
        answer: types.GroupView = await self._send("PUT", f"/api/v1/groups/{quote(group, safe='')}", body=dict(body))
        return answer

    async def delete_group(self, group: str, /) -> None:
        """Delete a group."""
        await self._send("DELETE", f"/api/v1/groups/{quote(group, safe='')}")

    async def list_rules(self, *, skill: str | None = None) -> types.RuleList:
        """List the rules of a skill."""
        answer: types.RuleList = await self._send("GET", "/api/v1/rules", query={"skill": skill})
        return answer

    async def show_rule(self, rule: str, /, *, skill: str | None = None) -> types.RuleView:
        """Show one rule with its texts."""
        answer: types.RuleView = await self._send(
            "GET", f"/api/v1/rules/{quote(rule, safe='')}", query={"skill": skill}
        )
        return answer

    async def list_lessons(
        self, *, rule: str | None = None, q: str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> types.LessonList:
        """List lessons, newest first."""
        answer: types.LessonList = await self._send(
            "GET", "/api/v1/lessons", query={"rule": rule, "q": q, "cursor": cursor, "limit": limit}
        )
        return answer

    async def list_schedules(self) -> types.ScheduleList:
        """List the schedules."""
        answer: types.ScheduleList = await self._send("GET", "/api/v1/schedules")
        return answer

    async def add_schedule(self, **body: Unpack[types.ScheduleOrder]) -> types.ScheduleView:
        """Add a schedule, which starts runs at set times."""
        answer: types.ScheduleView = await self._send("POST", "/api/v1/schedules", body=dict(body))
        return answer

    async def show_schedule(self, schedule: str, /) -> types.ScheduleView:
        """Show a schedule with the outcome of its last time."""
        answer: types.ScheduleView = await self._send("GET", f"/api/v1/schedules/{quote(schedule, safe='')}")
        return answer

    async def delete_schedule(self, schedule: str, /) -> None:
        """Delete a schedule."""
        await self._send("DELETE", f"/api/v1/schedules/{quote(schedule, safe='')}")

    async def handle_schedule(self, schedule: str, verb: Literal["pause", "resume"], /) -> types.ScheduleView:
        """Pause or resume a schedule."""
        answer: types.ScheduleView = await self._send(
            "POST", f"/api/v1/schedules/{quote(schedule, safe='')}/{quote(verb, safe='')}"
        )
        return answer

    async def list_waivers(self, *, in_force: bool | None = None) -> types.WaiverList:
        """List waivers, those that end first first."""
        answer: types.WaiverList = await self._send("GET", "/api/v1/waivers", query={"in_force": in_force})
        return answer

    async def add_waiver(self, **body: Unpack[types.WaiverOrder]) -> types.WaiverView:
        """Add a waiver."""
        answer: types.WaiverView = await self._send("POST", "/api/v1/waivers", body=dict(body))
        return answer

    async def show_waiver(self, waiver: str, /) -> types.WaiverView:
        """Show a waiver."""
        answer: types.WaiverView = await self._send("GET", f"/api/v1/waivers/{quote(waiver, safe='')}")
        return answer

    async def take_waiver_back(self, waiver: str, /, **body: Unpack[types.WaiverEnd]) -> types.WaiverView:
        """End a waiver before its date."""
        answer: types.WaiverView = await self._send(
            "POST", f"/api/v1/waivers/{quote(waiver, safe='')}/end", body=dict(body)
        )
        return answer

    async def list_tailorings(self) -> types.TailoringList:
        """List the profiles of every tailoring added to this machine."""
        answer: types.TailoringList = await self._send("GET", "/api/v1/tailorings")
        return answer

    async def add_tailoring(self, **body: Unpack[types.TailoringOrder]) -> types.TailoringList:
        """Add a tailoring."""
        answer: types.TailoringList = await self._send("POST", "/api/v1/tailorings", body=dict(body))
        return answer

    async def take_tailoring_out(
        self, *, skill: str, host: str | None = None, group: str | None = None, rules: str | None = None
    ) -> bytes:
        """Export waivers, site values and selected rules as an xccdf:Tailoring, for OpenSCAP elsewhere."""
        answer: bytes = await self._send(
            "GET",
            "/api/v1/tailoring.xml",
            query={"skill": skill, "host": host, "group": group, "rules": rules},
            as_file=True,
        )
        return answer

    async def list_parameters(self, *, skill: str | None = None, host: str | None = None) -> types.ParameterList:
        """List all parameters of a skill's rules."""
        answer: types.ParameterList = await self._send(
            "GET", "/api/v1/parameters", query={"skill": skill, "host": host}
        )
        return answer

    async def put_parameter(self, parameter: str, /, **body: Unpack[types.ParameterOrder]) -> types.ParameterSet:
        """Set a value for runs that start from now on."""
        answer: types.ParameterSet = await self._send(
            "PUT", f"/api/v1/parameters/{quote(parameter, safe='')}", body=dict(body)
        )
        return answer

    async def delete_parameter(
        self, parameter: str, /, *, skill: str | None = None, host: str | None = None, group: str | None = None
    ) -> None:
        """Remove a value; the next nearest one applies again."""
        await self._send(
            "DELETE",
            f"/api/v1/parameters/{quote(parameter, safe='')}",
            query={"skill": skill, "host": host, "group": group},
        )

    async def list_webhooks(self) -> types.WebhookList:
        """List the webhooks."""
        answer: types.WebhookList = await self._send("GET", "/api/v1/webhooks")
        return answer

    async def add_webhook(self, **body: Unpack[types.WebhookOrder]) -> types.NewWebhook:
        """Add a webhook."""
        answer: types.NewWebhook = await self._send("POST", "/api/v1/webhooks", body=dict(body))
        return answer

    async def show_webhook(self, webhook: str, /) -> types.WebhookView:
        """Show a webhook with its deliveries."""
        answer: types.WebhookView = await self._send("GET", f"/api/v1/webhooks/{quote(webhook, safe='')}")
        return answer

    async def change_webhook(self, webhook: str, /, **body: Unpack[types.WebhookChange]) -> types.WebhookView:
        """Change whether it may lead to non-public addresses, or its body template."""
        answer: types.WebhookView = await self._send(
            "PATCH", f"/api/v1/webhooks/{quote(webhook, safe='')}", body=dict(body)
        )
        return answer

    async def delete_webhook(self, webhook: str, /) -> None:
        """Delete a webhook."""
        await self._send("DELETE", f"/api/v1/webhooks/{quote(webhook, safe='')}")

    async def try_webhook(self, webhook: str, /) -> types.WebhookTrial:
        """Send one signed test delivery of type temper.test now, and return the result."""
        answer: types.WebhookTrial = await self._send("POST", f"/api/v1/webhooks/{quote(webhook, safe='')}/test")
        return answer

    async def send_again(self, webhook: str, /, **body: Unpack[types.Redelivery]) -> types.WebhookView:
        """Send all matching events of one run or rollout again, from the first, with the same ids."""
        answer: types.WebhookView = await self._send(
            "POST", f"/api/v1/webhooks/{quote(webhook, safe='')}/again", body=dict(body)
        )
        return answer

    async def who_am_i(self) -> types.Me:
        """Show who you are, and with which right."""
        answer: types.Me = await self._send("GET", "/api/v1/me")
        return answer

    async def list_people(self) -> types.PersonList:
        """List the people who can sign in."""
        answer: types.PersonList = await self._send("GET", "/api/v1/people")
        return answer

    async def add_person(self, **body: Unpack[types.NewPerson]) -> types.PersonView:
        """Add a person, who can sign in with the password."""
        answer: types.PersonView = await self._send("POST", "/api/v1/people", body=dict(body))
        return answer

    async def disable_person(self, name: str, /) -> None:
        """Disable a person."""
        await self._send("DELETE", f"/api/v1/people/{quote(name, safe='')}")

    async def list_tokens(self) -> types.TokenList:
        """List tokens and links, without their secrets."""
        answer: types.TokenList = await self._send("GET", "/api/v1/tokens")
        return answer

    async def make_token(self, **body: Unpack[types.NewToken]) -> types.MadeToken:
        """Create a token."""
        answer: types.MadeToken = await self._send("POST", "/api/v1/tokens", body=dict(body))
        return answer

    async def end_token(self, token: str, /) -> None:
        """End a token or a link at once."""
        await self._send("DELETE", f"/api/v1/tokens/{quote(token, safe='')}")

    async def make_link(self, **body: Unpack[types.NewLink]) -> types.MadeLink:
        """Create a link that shows one run, read-only, until it expires."""
        answer: types.MadeLink = await self._send("POST", "/api/v1/links", body=dict(body))
        return answer

    async def list_audit(self, *, before: int | None = None, limit: int | None = None) -> types.AuditList:
        """List who did what from where, newest first."""
        answer: types.AuditList = await self._send("GET", "/api/v1/audit", query={"before": before, "limit": limit})
        return answer

    async def show_usage(
        self, *, since: str | None = None, until: str | None = None, per: Literal["day", "month"] | None = None
    ) -> types.UsageList:
        """List tokens, GPU-seconds and joules per person and API token."""
        answer: types.UsageList = await self._send(
            "GET", "/api/v1/usage", query={"since": since, "until": until, "per": per}
        )
        return answer

    async def export_usage(
        self, *, since: str | None = None, until: str | None = None, per: Literal["day", "month"] | None = None
    ) -> bytes:
        """The same lines as CSV."""
        answer: bytes = await self._send(
            "GET", "/api/v1/usage.csv", query={"since": since, "until": until, "per": per}, as_file=True
        )
        return answer

    async def list_nodes(self) -> types.NodeList:
        """List the nodes at work, oldest first."""
        answer: types.NodeList = await self._send("GET", "/api/v1/nodes")
        return answer

    async def healthz(self) -> types.Alive:
        """Return 200 if the process answers."""
        answer: types.Alive = await self._send("GET", "/healthz")
        return answer

    async def readyz(self) -> types.Readiness:
        """Return 200 if log and data folder can be written, no frozen process locks a host and engines with a role serve."""
        answer: types.Readiness = await self._send("GET", "/readyz")
        return answer

    async def metrics(self) -> bytes:
        """Export metrics in the text format of Prometheus."""
        answer: bytes = await self._send("GET", "/metrics", as_file=True)
        return answer

    async def take_shared_file(self, run: str, /, *, prompts: bool | None = None) -> bytes:
        """Download the run as one HTML file that plays and checks itself, without a server or a network."""
        answer: bytes = await self._send(
            "GET", f"/api/v1/runs/{quote(run, safe='')}/shared.html", query={"prompts": prompts}, as_file=True
        )
        return answer
