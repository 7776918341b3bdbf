/** The result of a check: as it should be, worth a look, or broken. */
type VerdictStatus = Verdict["status"]

/** One finding of the doctor. One that is not `ok` says why, and what to do about it. */
export type Verdict =
  | {
      /** The part that was checked: `settings`, `database`, `dns`… */
      readonly check: string
      readonly status: "ok"
      readonly what: string
    }
  | {
      readonly check: string
      readonly status: "warn" | "fail"
      readonly what: string
      readonly why: string
      readonly do: string
    }

/** The text of a verdict that is not `ok`. */
interface Complaint {
  readonly what: string
  readonly why: string
  readonly do: string
}

/** Makes the verdicts of one part. */
export const verdictsOf = (check: string) => ({
  ok: (what: string): Verdict => ({ check, status: "ok", what }),
  warn: (complaint: Complaint): Verdict => ({ check, status: "warn", ...complaint }),
  fail: (complaint: Complaint): Verdict => ({ check, status: "fail", ...complaint })
})

/** How many verdicts of each status there are. */
export const tally = (verdicts: ReadonlyArray<Verdict>): Readonly<Record<VerdictStatus, number>> => {
  const count = (status: VerdictStatus) => verdicts.filter((verdict) => verdict.status === status).length
  return { ok: count("ok"), warn: count("warn"), fail: count("fail") }
}
