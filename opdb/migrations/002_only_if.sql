-- SPDX-License-Identifier: Apache-2.0
-- A necessary condition of a call whose exact condition is not known; an empty text means "no statement".

ALTER TABLE expansion ADD COLUMN only_if TEXT NOT NULL DEFAULT '';
