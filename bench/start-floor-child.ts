import Database from "better-sqlite3";
import { newestTexts } from "./floor/page-of-orcha.ts";

// The least that a process can do: opens the file of an Orcha and prints the newest page of a session.
const [file = "", session = "", pageSize = ""] = process.argv.slice(2);
const texts = new Database(file, { readonly: true })
  .prepare<[string, number], string>(newestTexts)
  .pluck()
  .all(session, Number(pageSize))
  .toReversed();
console.log(`[${texts.join(",")}]`);
