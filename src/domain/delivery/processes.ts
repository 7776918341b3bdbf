interface Part {
  readonly name: string
  readonly lastError: string | null
}

/** What a process says of itself. */
interface ProcessState {
  readonly checks: ReadonlyArray<Part & { readonly ok: boolean }>
  readonly supervisors: ReadonlyArray<Part & { readonly state: string }>
}

/** States of parts that run, or begin to: a part that starts is given its time. */
const CALM = new Set(["running", "starting"])

/** What of a process is not as it should be, and why: what it needs and does not get, and its parts that do not run. */
export const troublesOf = ({ checks, supervisors }: ProcessState): ReadonlyArray<Part> =>
  [...checks.filter(({ ok }) => !ok), ...supervisors.filter(({ state }) => !CALM.has(state))].map(
    ({ lastError, name }) => ({ name, lastError })
  )
