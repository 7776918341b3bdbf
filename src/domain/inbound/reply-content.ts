import { Schema } from "effect"

import { DoubtfulPages } from "../../reader/model/doubt.ts"
import { LeftOut } from "../../reader/model/left-out.ts"
import type { MailTemplate } from "../mail/templates/template.ts"

const Names = Schema.Array(Schema.String)

/** What a queued reply says, as JSON: the replies of INBOUND-9, and the one to a mail that was written to others (INBOUND-6). */
export const ReplyContent = Schema.Union([
  Schema.Struct({
    kind: Schema.Literal("unregistered"),
    address: Schema.String,
    registerUrl: Schema.String
  }),
  Schema.Struct({ kind: Schema.Literal("no-attachment"), convertAddress: Schema.String }),
  Schema.Struct({ kind: Schema.Literal("misaddressed"), convertAddress: Schema.String }),
  Schema.Struct({
    kind: Schema.Literal("unsupported-file"),
    fileName: Schema.String,
    found: Schema.String
  }),
  Schema.Struct({
    kind: Schema.Literal("insufficient-credits"),
    fileName: Schema.String,
    needed: Schema.Int,
    balance: Schema.Int,
    plan: Schema.Literals(["free", "paid"]),
    buyUrl: Schema.String
  }),
  Schema.Struct({
    kind: Schema.Literal("processing-started"),
    fileName: Schema.String,
    pages: Schema.Int,
    ignored: Names
  }),
  Schema.Struct({
    kind: Schema.Literal("success"),
    fileName: Schema.String,
    pages: Schema.Int,
    /** 0 until the database has charged. */
    creditsCharged: Schema.Int,
    balance: Schema.Int,
    ignored: Names,
    /** Pages from 1 that could not be read, and whether the result has text; absent in replies of older versions. */
    unreadablePages: Schema.optionalKey(Schema.Array(Schema.Int)),
    /** Pages from 1 that were read from their pictures, but not well; absent: none. */
    poorlyReadPages: Schema.optionalKey(Schema.Array(Schema.Int)),
    /** Doubtful pages, by reason; absent: none. */
    doubtfulPages: Schema.optionalKey(Schema.Array(DoubtfulPages)),
    /** What the document holds that was not converted; absent: nothing. */
    leftOut: Schema.optionalKey(LeftOut),
    hasText: Schema.optionalKey(Schema.Boolean)
  }),
  Schema.Struct({ kind: Schema.Literal("error"), fileName: Schema.String, reason: Schema.String })
])
export type ReplyContent = typeof ReplyContent.Type

/** The mail for a reply's content; `resultUrl` where the result is not attached. */
export const templateOf = (content: ReplyContent, resultUrl: string | undefined): MailTemplate =>
  content.kind === "success"
    ? {
        ...content,
        unreadablePages: content.unreadablePages ?? [],
        poorlyReadPages: content.poorlyReadPages ?? [],
        hasText: content.hasText ?? true,
        resultUrl
      }
    : content
