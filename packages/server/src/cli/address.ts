import { wrongUsage } from "./failure.ts";

/** Reads the address that a flag gives. One that holds more than an address is refused unprinted: a password is a secret. */
export function addressOf(flag: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw wrongUsage(`${flag} must be like http://127.0.0.1:4310, not ${text}`);
  if (url.username + url.password + url.search + url.hash !== "") throw wrongUsage(`${flag} must be an address alone, without a user, a query or a fragment`);
  return text.replace(/\/+$/, "");
}
