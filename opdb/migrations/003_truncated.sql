-- SPDX-License-Identifier: Apache-2.0
-- Every sample of the operator ended in an error: its rows are the calls before it, and there may be more.

ALTER TABLE expansion ADD COLUMN truncated INTEGER NOT NULL DEFAULT 0;
