import { createOrcha } from "@orcha/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { agents } from "./agents.ts";

async function measure(random: number, retry: { minDelayMs?: number; maxDelayMs?: number }, retryAfterMs?: number): Promise<number[]> {
  vi.spyOn(Math, "random").mockReturnValue(random);
  const times: number[] = [];
  const body = { json: { defined: true, code: "too_busy", status: 503, message: "busy", data: { retryable: true, details: { retryAfterMs } } } };
  const { supportAgent } = createOrcha<typeof agents>({
    baseUrl: "http://orcha.invalid",
    retry: { attempts: 6, ...retry },
    fetch: async () => {
      times.push(Date.now());
      return new Response(JSON.stringify(body), { status: 503, headers: { "content-type": "application/json" } });
    },
  });
  const done = supportAgent.get.safe("ses_1");
  await vi.runAllTimersAsync();
  await done;
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

describe("the waits between attempts", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it("double up to the longest, and start at the shortest", async () => {
    expect(await measure(1, {})).toEqual([400, 800, 1600, 3200, 5000]);
    expect(await measure(0, {})).toEqual([200, 200, 200, 200, 200]);
    expect(await measure(0.5, { minDelayMs: 0, maxDelayMs: 100 })).toEqual([0, 0, 0, 0, 0]);
  });

  it("give the server what it asks for, up to six times the longest", async () => {
    expect(await measure(1, {}, 700)).toEqual([700, 800, 1600, 3200, 5000]);
    expect(await measure(0, { maxDelayMs: 1000 }, 3_600_000)).toEqual([6000, 6000, 6000, 6000, 6000]);
  });
});
