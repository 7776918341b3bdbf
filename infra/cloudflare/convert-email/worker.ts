/** The Email Worker of convert-by-email. */
export { default } from "../../../src/runtime/edge-email.ts"
