import { type Verdict, verdictsOf } from "./verdict.ts"

/** One thing about a bucket: as it should be or not; `unknown`: these credentials may not look, or the service does not know it. */
type Finding = "good" | "bad" | "unknown"

/** The facts about one bucket of this installation. */
export interface BucketFacts {
  readonly name: string
  readonly encrypted: Finding
  /** No policy and no access list can open it. */
  readonly closed: Finding
  /** Its policy refuses plain HTTP. */
  readonly tlsOnly: Finding
  /** After how many days objects end by themselves; `undefined`: they do not. */
  readonly expiresAfterDays: number | "unknown" | undefined
  /** Owners' files must not end by themselves; what is under way should (BATCH-44). */
  readonly keeps: "files" | "short-lived"
}

const { fail, ok, warn } = verdictsOf("buckets")

const APPLY = "npm run infra -- apply in a checkout makes it so, or set it by hand"

/** A batch job may take 168 hours and its grace, and is collected five times. */
const FEWEST_DAYS = 8

const expiry = ({ expiresAfterDays: days, keeps, name }: BucketFacts): ReadonlyArray<Verdict> => {
  if (days === "unknown") return []
  if (keeps === "files") {
    return days === undefined
      ? []
      : [
          fail({
            what: `objects of ${name} end after ${days} days`,
            why: "owners' files and results are among them",
            do: "take the expiration of current objects out of its lifecycle"
          })
        ]
  }
  if (days === undefined) {
    return [
      warn({
        what: `objects of ${name} never end`,
        why: "what a process left behind stays, and costs",
        do: APPLY
      })
    ]
  }
  return days < FEWEST_DAYS
    ? [
        fail({
          what: `objects of ${name} end after ${days} days`,
          why: "work that is still under way may need them",
          do: "let them stay for 14 days"
        })
      ]
    : []
}

const verdicts = (facts: BucketFacts): ReadonlyArray<Verdict> => {
  const { closed, encrypted, name, tlsOnly } = facts
  const found = [
    ...(closed === "bad"
      ? [
          fail({
            what: `public access to ${name} is not blocked`,
            why: "one policy or access list makes documents public",
            do: APPLY
          })
        ]
      : []),
    ...(encrypted === "bad"
      ? [
          warn({
            what: `${name} is not encrypted by default`,
            why: "documents stand there as they are",
            do: APPLY
          })
        ]
      : []),
    ...(tlsOnly === "bad"
      ? [
          warn({
            what: `${name} can be reached without TLS`,
            why: "its policy does not refuse it",
            do: APPLY
          })
        ]
      : []),
    ...expiry(facts)
  ]
  if (found.length > 0) return found
  const unseen = [closed, encrypted, tlsOnly, facts.expiresAfterDays].includes("unknown")
  return unseen
    ? [
        warn({
          what: `not everything about ${name} can be seen`,
          why: "these credentials may not look, or the service knows no such settings",
          do: "allow s3:GetEncryptionConfiguration, s3:GetBucketPublicAccessBlock, s3:GetBucketPolicy and s3:GetLifecycleConfiguration"
        })
      ]
    : [ok(`${name} is encrypted, closed to the public and reached over TLS only`)]
}

/** The verdicts on the buckets. */
export const bucketVerdicts = (facts: ReadonlyArray<BucketFacts>): ReadonlyArray<Verdict> =>
  facts.flatMap(verdicts)
