import { scriptedModel } from "@orcha/agent/testing";
import { defineConfig, type OrchaConfig } from "@orcha/server/config";
import { expectTypeOf } from "vitest";
import { agents } from "../runs/agents.ts";

// Checked by `tsc` alone; nothing here runs.

const model = scriptedModel([]);
const skills = { incident_triage: "First, stay calm." };
const evaluations = { response_quality: async () => ({ groundedness: { score: 1, reasoning: "It says what it knows." } }) };

export const whole = defineConfig({
  agents,
  implementations: {
    supportAgent: {
      model,
      instructions: "You help.",
      actions: {
        lookup_order: ({ orderId }, { idempotencyKey }) => {
          expectTypeOf(orderId).toEqualTypeOf<string>();
          expectTypeOf(idempotencyKey).toEqualTypeOf<string>();
          return { status: "sent" };
        },
        refund: ({ amount }) => amount,
      },
      skills,
      evaluations,
    },
    sorter: { model, instructions: "You sort." },
  },
});

// What commands work with knows no agent by name.
export const forgotten: OrchaConfig = whole;

export const withoutImplementations = defineConfig({ agents });

defineConfig({
  agents,
  // @ts-expect-error supportAgent has an action refund, too
  implementations: { supportAgent: { instructions: "You help.", actions: { lookup_order: () => ({ status: "sent" }) }, skills, evaluations } },
});

defineConfig({
  agents,
  implementations: {
    supportAgent: {
      instructions: "You help.",
      actions: {
        // @ts-expect-error its output has a status
        lookup_order: () => ({ state: "sent" }),
        refund: () => true,
      },
      skills,
      evaluations,
    },
  },
});

defineConfig({
  agents,
  implementations: {
    supportAgent: {
      instructions: "You help.",
      actions: {
        // @ts-expect-error its input has no number
        lookup_order: ({ number }) => ({ status: String(number) }),
        refund: () => true,
      },
      skills,
      evaluations,
    },
  },
});

// @ts-expect-error there is no such agent
defineConfig({ agents, implementations: { suportAgent: { instructions: "You help." } } });
