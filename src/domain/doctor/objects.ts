import { complaintAbout, type Standing, type StorePlace } from "../store-identity.ts"
import { type Verdict, verdictsOf } from "./verdict.ts"

/** The facts about one object store of this installation. */
export interface ObjectStoreFacts {
  readonly store: StorePlace
  readonly found:
    | { readonly _tag: "Unreachable"; readonly why: string }
    | { readonly _tag: "Reached"; readonly standing: Standing }
}

const { fail, ok } = verdictsOf("objects")

const verdict = ({ found, store }: ObjectStoreFacts): Verdict => {
  const where = `the object store of ${store.name} (${store.shown})`
  if (found._tag === "Unreachable") {
    return fail({
      what: `${where} cannot be examined`,
      why: found.why,
      do: "see that the bucket or the folder exists and that this machine may read and write it"
    })
  }
  switch (found.standing) {
    case "same":
    case "expired":
      return ok(`${where} is the one that the database knows`)
    case "new":
      return ok(`${where} will be the one that the database knows: no process has worked with one yet`)
    case "another":
    case "empty":
    case "lost":
      return fail(complaintAbout(store, found.standing))
  }
}

/** The verdicts on the object stores (DOC-6). */
export const objectVerdicts = (facts: ReadonlyArray<ObjectStoreFacts>): ReadonlyArray<Verdict> =>
  facts.map(verdict)
