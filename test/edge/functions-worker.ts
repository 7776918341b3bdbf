import { handleFunction } from "../../src/runtime/entries/functions.ts"

/** What a deployment of the functions is. */
export default { fetch: handleFunction }
