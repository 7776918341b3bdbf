import { complaintAbout, type StoreState, type StorePlace } from "../store-identity.ts"
import { type Verdict, verdictsOf } from "./verdict.ts"

/** The facts about one object store of this installation. */
export interface ObjectStoreFacts {
  readonly store: StorePlace
  readonly found:
    | { readonly _tag: "Unreachable"; readonly why: string }
    | { readonly _tag: "Reached"; readonly state: StoreState }
}

const { fail, ok, warn } = verdictsOf("objects")

const verdict = ({ found, store }: ObjectStoreFacts): Verdict => {
  const where = `the object store of ${store.name} (${store.shown})`
  if (found._tag === "Unreachable") {
    return fail({
      what: `${where} cannot be examined`,
      why: found.why,
      do: "see that the bucket or the folder exists and that this machine may read and write it"
    })
  }
  switch (found.state) {
    case "same":
    case "expired":
      return ok(`${where} is the one that the database knows`)
    case "new":
      return ok(`${where} will be the one that the database knows: no process has worked with one yet`)
    case "another":
    case "empty":
    case "lost":
      return fail(complaintAbout(store, found.state))
  }
}

/** What became of one small object in a bucket. */
export interface BucketProbe {
  readonly bucket: string
  readonly found: ProbeFound
}

const probeVerdict = ({ bucket, found }: BucketProbe): Verdict => {
  if (found._tag === "Fails") {
    return fail({
      what: `an object of ${bucket} cannot be ${found.step}`,
      why: found.why,
      do: "allow s3:PutObject, s3:GetObject and s3:DeleteObject to these credentials; where the service does not implement a header, leave S3_SSE unset"
    })
  }
  return found.isExclusive
    ? ok(`objects of ${bucket} can be written, read and removed`)
    : warn({
        what: `${bucket} does not keep the condition of a write`,
        why: "of two processes that write an object at once, both are answered that they were first (If-None-Match is ignored)",
        do: "use a version of the service that has conditional writes; until then start one process first on a new bucket"
      })
}

/** The verdicts on what the buckets do with an object. */
export const probeVerdicts = (probes: ReadonlyArray<BucketProbe>): ReadonlyArray<Verdict> =>
  probes.map(probeVerdict)

/** The verdicts on the object stores (DOC-6). */
export const objectVerdicts = (facts: ReadonlyArray<ObjectStoreFacts>): ReadonlyArray<Verdict> =>
  facts.map(verdict)

/** What an object store does with one small object. */
export type ProbeFound =
  | { readonly _tag: "Fails"; readonly step: "written" | "read" | "removed"; readonly why: string }
  /** `isExclusive`: when two processes create the same object at once, one is refused. */
  | { readonly _tag: "Works"; readonly isExclusive: boolean }
