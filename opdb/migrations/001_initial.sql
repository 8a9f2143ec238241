-- SPDX-License-Identifier: Apache-2.0
-- The operator database. Table names are the contract, columns may grow by later migrations.
-- Lists of words are joined by a space (tags, targets) or '|' (dtypes); an empty text means "no statement".

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE release (
  product                TEXT NOT NULL,
  name                   TEXT NOT NULL,
  sort_order             INTEGER NOT NULL,
  sdk                    TEXT NOT NULL DEFAULT '',
  date                   TEXT NOT NULL DEFAULT '',
  torch                  TEXT NOT NULL DEFAULT '',
  compiler               TEXT NOT NULL DEFAULT '',
  registrations_complete INTEGER NOT NULL DEFAULT 0,
  note                   TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (product, name)
) WITHOUT ROWID;

-- The catalogue: one torch version's operators, the same for every release of the backend.
CREATE TABLE op (
  name               TEXT PRIMARY KEY,
  packet             TEXT NOT NULL,
  schema             TEXT NOT NULL,
  tags               TEXT NOT NULL DEFAULT '',
  variants           TEXT NOT NULL DEFAULT '',
  dispatch_class     TEXT NOT NULL DEFAULT '',
  structured_twin    TEXT NOT NULL DEFAULT '',
  cpu_kernel         INTEGER NOT NULL DEFAULT 0,
  throws_only        INTEGER NOT NULL DEFAULT 0,
  view               TEXT NOT NULL DEFAULT '',
  mutates            INTEGER NOT NULL DEFAULT 0,
  core_decomposition INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX op_packet ON op (packet);

CREATE TABLE expansion (
  id        INTEGER PRIMARY KEY,
  op        TEXT NOT NULL,
  child     TEXT NOT NULL,
  times     TEXT NOT NULL DEFAULT '1',
  always    INTEGER NOT NULL DEFAULT 1,
  plumbing  INTEGER NOT NULL DEFAULT 0,
  condition TEXT NOT NULL DEFAULT '',
  args      TEXT NOT NULL DEFAULT '',
  samples   INTEGER NOT NULL DEFAULT 0,
  source    TEXT NOT NULL DEFAULT ''
);
CREATE INDEX expansion_op ON expansion (op);
CREATE INDEX expansion_child ON expansion (child);

CREATE TABLE evidence (
  id         INTEGER PRIMARY KEY,
  kind       TEXT NOT NULL,
  source     TEXT NOT NULL DEFAULT '',
  product    TEXT NOT NULL DEFAULT '',
  release    TEXT NOT NULL DEFAULT '',
  observed   TEXT NOT NULL DEFAULT '',
  confidence TEXT NOT NULL DEFAULT 'none'
);
CREATE UNIQUE INDEX evidence_key ON evidence (source, kind, product, release, observed, confidence);

CREATE TABLE support (
  id          INTEGER PRIMARY KEY,
  op          TEXT NOT NULL,
  scope       TEXT NOT NULL,
  status      TEXT NOT NULL,
  product     TEXT NOT NULL,
  release     TEXT NOT NULL,
  mode        TEXT NOT NULL,
  chip        TEXT NOT NULL DEFAULT '',
  dtypes      TEXT NOT NULL DEFAULT '',
  predicate   TEXT NOT NULL DEFAULT '',
  otherwise   TEXT NOT NULL DEFAULT '',
  path_note   TEXT NOT NULL DEFAULT '',
  vendor_test TEXT NOT NULL DEFAULT '',
  note        TEXT NOT NULL DEFAULT '',
  evidence_id INTEGER NOT NULL REFERENCES evidence (id)
);
CREATE INDEX support_op ON support (op, product);

CREATE TABLE feature (
  id          INTEGER PRIMARY KEY,
  feature     TEXT NOT NULL,
  product     TEXT NOT NULL,
  applies_to  TEXT NOT NULL DEFAULT '',
  mode        TEXT NOT NULL,
  status      TEXT NOT NULL,
  message     TEXT NOT NULL DEFAULT '',
  release     TEXT NOT NULL,
  evidence_id INTEGER NOT NULL REFERENCES evidence (id)
);

CREATE TABLE rule (
  id                INTEGER PRIMARY KEY,
  code              TEXT NOT NULL,
  title             TEXT NOT NULL DEFAULT '',
  targets           TEXT NOT NULL DEFAULT '',
  scope             TEXT NOT NULL DEFAULT 'packet',
  mode              TEXT NOT NULL DEFAULT 'any',
  predicate         TEXT NOT NULL DEFAULT '',
  machine_checkable INTEGER NOT NULL DEFAULT 0,
  note              TEXT NOT NULL DEFAULT '',
  product           TEXT NOT NULL,
  release           TEXT NOT NULL,
  answers_for       TEXT NOT NULL,
  evidence_id       INTEGER NOT NULL REFERENCES evidence (id)
);

-- Exact error text of the backend or compiler, what it means, what to do.
CREATE TABLE message (
  id          INTEGER PRIMARY KEY,
  text        TEXT NOT NULL,
  explanation TEXT NOT NULL DEFAULT '',
  remedy      TEXT NOT NULL DEFAULT '',
  product     TEXT NOT NULL,
  release     TEXT NOT NULL,
  evidence_id INTEGER NOT NULL REFERENCES evidence (id)
);

-- Documented differences of results (NaN, infinities, rounding), for judging outputs; never a claim.
CREATE TABLE numeric_policy (
  id          INTEGER PRIMARY KEY,
  op          TEXT NOT NULL,
  dtype       TEXT NOT NULL DEFAULT '',
  policy      TEXT NOT NULL,
  value       TEXT NOT NULL DEFAULT '',
  product     TEXT NOT NULL,
  release     TEXT NOT NULL,
  note        TEXT NOT NULL DEFAULT '',
  evidence_id INTEGER NOT NULL REFERENCES evidence (id)
);
