CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE attempt (
	"key" VARCHAR NOT NULL, 
	tries INTEGER NOT NULL, 
	since FLOAT NOT NULL, 
	PRIMARY KEY ("key")
);
CREATE TABLE backup (
	made_at FLOAT NOT NULL, 
	"by" VARCHAR NOT NULL, 
	PRIMARY KEY (made_at)
);
CREATE TABLE chain_end (
	chain VARCHAR NOT NULL, 
	seq INTEGER NOT NULL, 
	hash VARCHAR NOT NULL, 
	PRIMARY KEY (chain)
);
CREATE TABLE command (
	id INTEGER NOT NULL, 
	run VARCHAR NOT NULL, 
	verb VARCHAR NOT NULL, 
	"by" VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	approval VARCHAR NOT NULL, 
	at FLOAT NOT NULL, 
	taken_at FLOAT, actions VARCHAR DEFAULT '' NOT NULL, via VARCHAR DEFAULT '' NOT NULL, token VARCHAR DEFAULT '' NOT NULL, made_by VARCHAR DEFAULT '' NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE credential (
	id VARCHAR NOT NULL, 
	person VARCHAR NOT NULL, 
	"right" VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	label VARCHAR NOT NULL, 
	digest VARCHAR NOT NULL, 
	made_at FLOAT NOT NULL, 
	expires_at FLOAT NOT NULL, 
	used_at FLOAT, 
	ended_at FLOAT, run VARCHAR DEFAULT '' NOT NULL, source VARCHAR DEFAULT '' NOT NULL, made_by VARCHAR DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (digest)
);
CREATE TABLE event (
	run VARCHAR NOT NULL, 
	seq INTEGER NOT NULL, 
	at FLOAT NOT NULL, 
	kind VARCHAR NOT NULL, 
	line BLOB NOT NULL, 
	hash VARCHAR NOT NULL, 
	PRIMARY KEY (run, seq)
);
CREATE TABLE evidence (
	run VARCHAR NOT NULL, 
	pack BLOB NOT NULL, 
	swept BOOLEAN NOT NULL, 
	PRIMARY KEY (run)
);
CREATE TABLE fix (
	id VARCHAR NOT NULL, 
	rule VARCHAR NOT NULL, 
	seen VARCHAR NOT NULL, 
	host VARCHAR NOT NULL, 
	played BOOLEAN NOT NULL, 
	simulated BOOLEAN NOT NULL, 
	at FLOAT NOT NULL, 
	body BLOB NOT NULL, 
	offers INTEGER NOT NULL, 
	held INTEGER NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE fix_failure (
	fix VARCHAR NOT NULL, 
	host VARCHAR NOT NULL, 
	at FLOAT NOT NULL, 
	reason VARCHAR NOT NULL, 
	PRIMARY KEY (fix, host)
);
CREATE TABLE host_file (
	host VARCHAR NOT NULL, 
	path VARCHAR NOT NULL, 
	part INTEGER NOT NULL, 
	digest VARCHAR NOT NULL, 
	content BLOB NOT NULL, 
	PRIMARY KEY (host, path, part)
);
CREATE TABLE host_group (
	name VARCHAR NOT NULL, 
	host VARCHAR NOT NULL, 
	PRIMARY KEY (name, host)
);
CREATE TABLE idempotency (
	"key" VARCHAR NOT NULL, 
	digest VARCHAR NOT NULL, 
	run VARCHAR NOT NULL, 
	at FLOAT NOT NULL, 
	PRIMARY KEY ("key")
);
CREATE TABLE lease (
	name VARCHAR NOT NULL, 
	host VARCHAR NOT NULL, 
	node VARCHAR NOT NULL, 
	epoch INTEGER NOT NULL, 
	asked_at FLOAT NOT NULL, claim BIGINT DEFAULT '0' NOT NULL, place VARCHAR DEFAULT '' NOT NULL, unreached VARCHAR DEFAULT '' NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE lesson (
	id VARCHAR NOT NULL, 
	rule VARCHAR NOT NULL, 
	host VARCHAR NOT NULL, 
	run VARCHAR NOT NULL, 
	at FLOAT NOT NULL, 
	mechanism VARCHAR NOT NULL, 
	environment VARCHAR NOT NULL, 
	advice VARCHAR NOT NULL, 
	uses INTEGER NOT NULL, 
	hits INTEGER NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE node (
	name VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	machine VARCHAR NOT NULL, 
	pid INTEGER NOT NULL, 
	began FLOAT NOT NULL, 
	started_at FLOAT NOT NULL, 
	seen_at FLOAT NOT NULL, 
	ended_at FLOAT, place VARCHAR DEFAULT '' NOT NULL, clock_off FLOAT DEFAULT '0' NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE parameter (
	skill VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	scope_kind VARCHAR NOT NULL, 
	scope_name VARCHAR NOT NULL, 
	value VARCHAR NOT NULL, 
	"by" VARCHAR NOT NULL, 
	at FLOAT NOT NULL, 
	PRIMARY KEY (skill, name, scope_kind, scope_name)
);
CREATE TABLE person (
	name VARCHAR NOT NULL, 
	"right" VARCHAR NOT NULL, 
	password VARCHAR NOT NULL, 
	made_at FLOAT NOT NULL, 
	disabled BOOLEAN NOT NULL, identity VARCHAR DEFAULT '' NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE probe (
	id VARCHAR NOT NULL, 
	at FLOAT NOT NULL, 
	lineup VARCHAR NOT NULL, 
	engine VARCHAR NOT NULL, 
	replica INTEGER NOT NULL, 
	simulated BOOLEAN NOT NULL, 
	gpus VARCHAR NOT NULL, 
	conditions VARCHAR NOT NULL, 
	figures VARCHAR NOT NULL, 
	problem VARCHAR NOT NULL, 
	notes VARCHAR NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE rollout (
	id VARCHAR NOT NULL, 
	words VARCHAR NOT NULL, 
	hosts INTEGER NOT NULL, 
	state VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	mode VARCHAR NOT NULL, 
	skill VARCHAR NOT NULL, 
	simulated BOOLEAN NOT NULL, 
	note VARCHAR NOT NULL, 
	"by" VARCHAR NOT NULL, 
	asked_at FLOAT NOT NULL, 
	ended_at FLOAT, 
	PRIMARY KEY (id)
);
CREATE TABLE rollout_host (
	rollout VARCHAR NOT NULL, 
	host VARCHAR NOT NULL, 
	run VARCHAR NOT NULL, 
	PRIMARY KEY (rollout, host)
);
CREATE TABLE run (
	id VARCHAR NOT NULL, 
	host VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	mode VARCHAR NOT NULL, 
	skill VARCHAR NOT NULL, 
	lineup VARCHAR NOT NULL, 
	simulated BOOLEAN NOT NULL, 
	note VARCHAR NOT NULL, 
	queued_at FLOAT NOT NULL, 
	started_at FLOAT, 
	ended_at FLOAT, 
	findings INTEGER NOT NULL, 
	passed INTEGER NOT NULL, 
	escalated INTEGER NOT NULL, 
	skipped INTEGER NOT NULL, 
	"deferred" INTEGER NOT NULL, 
	rolled_back INTEGER NOT NULL, 
	tokens INTEGER NOT NULL, 
	reason VARCHAR NOT NULL, drifted INTEGER DEFAULT '0' NOT NULL, shrunk_at FLOAT, regressed INTEGER DEFAULT '0' NOT NULL, name VARCHAR DEFAULT '' NOT NULL, tags VARCHAR DEFAULT '' NOT NULL, waived INTEGER DEFAULT '0' NOT NULL, whose VARCHAR DEFAULT '' NOT NULL, token VARCHAR DEFAULT '' NOT NULL, tokens_in BIGINT DEFAULT '0' NOT NULL, waiting_for VARCHAR DEFAULT '' NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE sample (
	seq INTEGER NOT NULL, 
	at FLOAT NOT NULL, 
	kind VARCHAR NOT NULL, 
	line BLOB NOT NULL, 
	PRIMARY KEY (seq)
);
CREATE TABLE schedule (
	id VARCHAR NOT NULL, 
	host VARCHAR NOT NULL, 
	skill VARCHAR NOT NULL, 
	rules VARCHAR NOT NULL, 
	mode VARCHAR NOT NULL, 
	cron VARCHAR NOT NULL, 
	zone VARCHAR NOT NULL, 
	window_seconds FLOAT, 
	enabled BOOLEAN NOT NULL, 
	"by" VARCHAR NOT NULL, 
	made_at FLOAT NOT NULL, 
	next_at FLOAT NOT NULL, 
	fired_at FLOAT, 
	run VARCHAR NOT NULL, 
	outcome VARCHAR NOT NULL, unkept BOOLEAN DEFAULT 0 NOT NULL, stopped BOOLEAN DEFAULT 0 NOT NULL, rollout VARCHAR DEFAULT '' NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE seal (
	"of" VARCHAR NOT NULL, 
	digest VARCHAR NOT NULL, 
	PRIMARY KEY ("of", digest)
);
CREATE TABLE standing (
	host VARCHAR NOT NULL, 
	skill VARCHAR NOT NULL, 
	run VARCHAR NOT NULL, 
	simulated BOOLEAN NOT NULL, 
	at FLOAT NOT NULL, 
	cells BLOB NOT NULL, 
	PRIMARY KEY (host, skill)
);
CREATE TABLE thinned (
	step INTEGER NOT NULL, 
	at FLOAT NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (step, at)
);
CREATE TABLE waiver (
	id VARCHAR NOT NULL, 
	rule VARCHAR NOT NULL, 
	scope_kind VARCHAR NOT NULL, 
	scope_name VARCHAR NOT NULL, 
	owner VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	ticket VARCHAR NOT NULL, 
	until VARCHAR NOT NULL, 
	"by" VARCHAR NOT NULL, 
	made_at FLOAT NOT NULL, 
	ended_at FLOAT, 
	ended_by VARCHAR NOT NULL, 
	ended_why VARCHAR NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE webhook (
	id VARCHAR NOT NULL, 
	url VARCHAR NOT NULL, 
	secret VARCHAR NOT NULL, 
	kinds VARCHAR NOT NULL, 
	created_at FLOAT NOT NULL, 
	delivered INTEGER NOT NULL, 
	dropped INTEGER NOT NULL, 
	problem VARCHAR NOT NULL, local BOOLEAN DEFAULT 0 NOT NULL, template VARCHAR DEFAULT '' NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE webhook_progress (
	webhook VARCHAR NOT NULL, 
	run VARCHAR NOT NULL, 
	seq INTEGER NOT NULL, 
	attempts INTEGER NOT NULL, 
	due_at FLOAT NOT NULL, 
	PRIMARY KEY (webhook, run), 
	FOREIGN KEY(webhook) REFERENCES webhook (id) ON DELETE CASCADE
);
CREATE INDEX event_run_kind ON event (run, kind, seq);
CREATE INDEX fix_rule_seen ON fix (rule, seen);
CREATE INDEX ix_attempt_since ON attempt (since);
CREATE INDEX ix_command_run ON command (run);
CREATE INDEX ix_credential_person ON credential (person);
CREATE INDEX ix_idempotency_at ON idempotency (at);
CREATE INDEX ix_lease_node ON lease (node);
CREATE INDEX ix_lesson_rule ON lesson (rule);
CREATE INDEX ix_probe_at ON probe (at);
CREATE INDEX ix_probe_lineup ON probe (lineup);
CREATE INDEX ix_rollout_asked_at ON rollout (asked_at);
CREATE INDEX ix_rollout_host_run ON rollout_host (run);
CREATE INDEX ix_rollout_state ON rollout (state);
CREATE INDEX ix_run_host ON run (host);
CREATE INDEX ix_run_queued_at ON run (queued_at);
CREATE INDEX ix_run_state ON run (state);
CREATE INDEX ix_sample_at ON sample (at);
CREATE INDEX ix_schedule_host ON schedule (host);
CREATE INDEX ix_waiver_rule ON waiver (rule);
CREATE INDEX run_host_newest ON run (host, queued_at, started_at);
INSERT INTO alembic_version VALUES ('0024');
