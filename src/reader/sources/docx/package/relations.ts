import { basename, dirname, join, resolve } from "node:path/posix"

import type { Archive } from "./archive.ts"
import { readXml } from "./xml.ts"

/** What a part of a package says of another part, or of an address outside. */
export interface Relation {
  readonly id: string
  /** The last word of its type, which transitional and strict documents have in common. */
  readonly kind: string
  /** Unresolved, from the file. */
  readonly target: string
  /** The part that is meant; undefined where it is outside or not in the package. */
  readonly part: string | undefined
}

const KIND = /\/relationships\/(\w+)$/

/** Path of the relations of a part; of the package for an empty path. */
export const relationsPath = (part: string): string => join(dirname(part), "_rels", `${basename(part)}.rels`)

/** Reads the relations of a part; none where it has none. */
export const readRelations = async (archive: Archive, of: string): Promise<ReadonlyArray<Relation>> => {
  const path = relationsPath(of)
  const found: Array<Relation> = []
  if (!archive.has(path)) return found
  await readXml(archive.stream(path), {
    open: (_, attributes) => {
      const kind = KIND.exec(attributes.get("Type") ?? "")?.[1]
      if (kind === undefined) return
      const target = attributes.get("Target") ?? ""
      const inside = resolve("/", dirname(of), target).slice(1)
      const part = archive.has(inside) ? inside : undefined
      found.push({ id: attributes.get("Id") ?? "", kind, target, part })
    }
  })
  return found
}

/** The part that relations of a kind name first. */
export const partOf = (relations: ReadonlyArray<Relation>, kind: string): string | undefined =>
  relations.find((one) => one.kind === kind && one.part !== undefined)?.part

/** The relations of a part. */
export type RelationsOf = (part: string) => Promise<ReadonlyArray<Relation>>

/** Reads the relations of parts, each once. */
export const relationsIn = (archive: Archive): RelationsOf => {
  const read = new Map<string, Promise<ReadonlyArray<Relation>>>()
  return (part) => {
    const relations = read.get(part) ?? readRelations(archive, part)
    read.set(part, relations)
    return relations
  }
}
