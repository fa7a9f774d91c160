from app.events.kinds import AuditedRequest
from app.store import audit
from app.web.pages.people import LINES
from tests.runs.doors import house


async def test_the_audit_log_leads_to_older_lines_only_where_there_are_any(tmp_path):
    line = AuditedRequest(who="ada", right="admin", via="session", source="", did="POST /x", status=200)
    async with house(tmp_path / "data") as made:
        for _ in range(LINES):
            audit.record_audit_event(made.database, line)
        assert "Older" not in (await made.http.get("/audit")).text
        audit.record_audit_event(made.database, line)
        assert "?before=2" in (await made.http.get("/audit")).text
        assert "POST /x" in (await made.http.get("/audit?before=2")).text
