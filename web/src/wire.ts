// The shapes of the wire, as `tidings schema typescript` prints them. Nothing here is written by hand.

export type * from "../../schema/tidings.ts";
