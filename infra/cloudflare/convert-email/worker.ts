/** The Email Worker of convert-by-email. */
export { default } from "../../../src/runtime/entries/edge-email.ts"
