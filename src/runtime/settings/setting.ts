import { Record, Schema } from "effect"

import { redacted } from "./shapes.ts"

/** Optional facts about a setting, in addition to its name, shape and purpose. */
interface Notes {
  /** The default, as it would be written in the environment. */
  readonly fallback?: string
  /** What holds when it is unset, in words, where that depends on other settings. */
  readonly otherwise?: string
  /** What the number counts. */
  readonly unit?: string
  /** Another name that means the same, used where this one is unset. */
  readonly alias?: string
  /** Under `POSTLANE_EMBEDDED=1` a value is generated and kept in the data folder. */
  readonly generated?: boolean
}

/** One setting: everything about it but its value. */
export interface Setting extends Notes {
  readonly name: string
  readonly about: string
  /** True where the value must never be shown. */
  readonly secret: boolean
  /** Decodes its text; `undefined` when it is unset and has no plain default. */
  readonly schema: Schema.Codec<unknown, string | undefined>
}

/** What holds while a setting is unset, in words; `code` writes a value. */
export const defaultOf = (setting: Setting, code: (value: string) => string): string => {
  const { fallback, generated = false, otherwise, unit } = setting
  if (fallback === undefined) return otherwise ?? (generated ? "none; embedded: generated" : "none")
  return unit === undefined ? code(fallback) : `${code(fallback)} (${unit})`
}

/** Of an address: the vendor's own unless it is set. */
export const vendor = { otherwise: "the vendor's" }

type SchemaOf<A, N> = N extends { readonly fallback: string }
  ? Schema.Codec<A, string>
  : Schema.UndefinedOr<Schema.Codec<A, string>>

const row =
  <const K extends string, A, const N extends Notes>(
    name: K,
    secret: boolean,
    shape: Schema.Codec<A, string>,
    notes: N
  ) =>
  (words: TemplateStringsArray, ...values: ReadonlyArray<string>) => ({
    ...(notes as Notes),
    name,
    secret,
    about: String.raw(words, ...values)
      .trim()
      .replaceAll(/\s+/g, " "),
    schema: (notes.fallback === undefined ? Schema.UndefinedOr(shape) : shape) as SchemaOf<A, N>
  })

type None = Readonly<globalThis.Record<never, never>>

/** A setting with a public value; the text that follows is its entry on the configuration page. */
export const open = <const K extends string, A, const N extends Notes = None>(
  name: K,
  shape: Schema.Codec<A, string>,
  notes?: N
) => row(name, false, shape, notes ?? ({} as N))

/** A setting with a secret value, which is redacted. */
export const secret = <const K extends string, const N extends Notes = None>(
  name: K,
  shape: Schema.Codec<string>,
  notes?: N
) => row(name, true, redacted(shape), notes ?? ({} as N))

/** Settings under one heading of the configuration page, and the schema of their values by field. */
export const area = <const R extends Readonly<globalThis.Record<string, Setting>>>(
  title: string,
  settings: R
) => ({
  title,
  settings,
  schema: Schema.Struct(
    Record.map(settings, ({ schema }) => schema) as { readonly [K in keyof R]: R[K]["schema"] }
  )
})
