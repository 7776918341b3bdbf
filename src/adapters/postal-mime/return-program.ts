import { readReturn } from "./read-return.ts"

/** Reads a mail to the bounce address in a separate process, see `ReaderProcess`. */
export default readReturn
