// Types of the wire format, as `tidings schema typescript` prints them. Nothing here is written by hand.

export { INPUT_BYTES_MAX } from "../../../schema/tidings.ts";
export type * from "../../../schema/tidings.ts";
