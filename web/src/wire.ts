// Types of the wire format, which are those of the client.

export { INPUT_BYTES_MAX } from "@tidings/client";
export type * from "@tidings/client";
