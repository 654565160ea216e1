import * as v from "valibot";
import type { AgentTypes, AnyAgentTypes } from "./agent.ts";
import { storedItemSchema, type SessionHistory } from "./history.ts";
import { sessionSnapshotSchema, type SessionSnapshot } from "./session.ts";

/** An item that is new, or as it is now. */
export interface ItemFrame<Item> {
  type: "item";
  item: Item;
  /** Its place in the history, from 0: it stays there for life. */
  position: number;
}

/** The session as it is now. */
export interface SnapshotFrame<Snapshot> {
  type: "snapshot";
  snapshot: Snapshot;
}

/** More of the answer in the making: `text` stands at `offset`, in UTF-16 units, of the round's text. */
export interface TextFrame {
  type: "text";
  run: number;
  /** Counts the model's turns in the run, from 0. */
  round: number;
  offset: number;
  text: string;
}

/** Everything up to that event has been told. */
export interface ReadyFrame {
  type: "ready";
  sequence: number;
}

/** The server ends the stream, and wants it to be opened again. */
export interface ReconnectFrame {
  type: "reconnect";
  reason: string;
}

/** Nothing will come any more. */
export interface EndFrame {
  type: "end";
  reason: "completed" | "deleted";
}

/** What a tail tells; narrow by `type`. A newer server may tell more. */
export type TailFrame<T extends AgentTypes = AnyAgentTypes> =
  | ItemFrame<SessionHistory<T>["items"][number]>
  | SnapshotFrame<SessionSnapshot<T>>
  | TextFrame
  | ReadyFrame
  | ReconnectFrame
  | EndFrame;

/** A piece of a tail, for those who can't read streams: `after` leads on. */
export interface TailPiece<T extends AgentTypes = AnyAgentTypes> {
  frames: TailFrame<T>[];
  after: number;
}

const whole = v.pipe(v.number(), v.integer(), v.minValue(0));

export const tailFrameSchema = v.variant("type", [
  v.object({ type: v.literal("item"), item: storedItemSchema, position: whole }),
  v.object({ type: v.literal("snapshot"), snapshot: sessionSnapshotSchema }),
  v.object({ type: v.literal("text"), run: whole, round: whole, offset: whole, text: v.string() }),
  v.object({ type: v.literal("ready"), sequence: whole }),
  v.object({ type: v.literal("reconnect"), reason: v.string() }),
  v.object({ type: v.literal("end"), reason: v.picklist(["completed", "deleted"]) }),
]);

export const tailPieceSchema = v.object({ frames: v.array(tailFrameSchema), after: whole });
