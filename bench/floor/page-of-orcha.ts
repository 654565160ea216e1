/** The newest texts of a session in Orcha's own file on SQLite, by the session's id and their number, newest first. */
export const newestTexts = `
  WITH session AS MATERIALIZED (SELECT key FROM sessions WHERE tenant = 'default' AND agent = 'support' AND id = ?)
  SELECT body FROM items
  WHERE key >= (SELECT key FROM session) << 32 AND key < ((SELECT key FROM session) + 1) << 32 ORDER BY key DESC LIMIT ?`;
