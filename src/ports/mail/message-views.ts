import { Context, Data, type Effect } from "effect"

/** A message that cannot be taken apart: damaged, or beyond the limits. The message is for people. */
export class UnreadableMessage extends Data.TaggedError("UnreadableMessage")<{ readonly message: string }> {}

/** A file in a message. */
export interface MessageFile {
  readonly filename: string | undefined
  /** In lower case, as declared. */
  readonly mediaType: string
  readonly bytes: number
  /** Shown within the HTML. */
  readonly inline: boolean
}

/** Most links of a message that are listed. */
export const MAX_LISTED_LINKS = 500

export interface MessageLink {
  /** What it says, or its picture does; empty where that is nothing. */
  readonly text: string
  readonly href: string
}

/** A message as a mail client shows it. */
export interface MessageView {
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly text: string | undefined
  /**
   * The HTML as a whole document for a sandboxed frame: no scripts, frames, `base` and refreshes; links open elsewhere; embedded
   * pictures are data. Undefined when the mail has no HTML or it cannot be shown.
   */
  readonly html: string | undefined
  /** Length of the HTML as it was sent. */
  readonly htmlBytes: number
  /** Why there is HTML and it cannot be shown. */
  readonly htmlProblem: string | undefined
  /** Pictures and styles that it would load from elsewhere. */
  readonly remote: number
  readonly links: ReadonlyArray<MessageLink>
  readonly files: ReadonlyArray<MessageFile>
}

/** A message taken apart, with nothing changed and all of its files. */
export interface MessageContent extends Pick<MessageView, "headers" | "text" | "links"> {
  /** As it was sent. */
  readonly html: string | undefined
  readonly files: ReadonlyArray<MessageFile & { readonly base64: string }>
}

/** A feature of HTML or CSS that some mail clients do not support, or support in part. */
export interface UnsupportedFeature {
  readonly title: string
  /** Where it is described; `undefined` where the data names no page. */
  readonly url: string | undefined
  /** Clients by their names, with their platforms. */
  readonly none: ReadonlyArray<string>
  readonly partial: ReadonlyArray<string>
}

/** What clients make of a message's HTML. */
export interface ClientSupport {
  readonly features: ReadonlyArray<UnsupportedFeature>
  /** Day of the data, as its source writes it. */
  readonly updated: string
}

/** Takes messages of the outbox apart, hostile ones too, away from the main thread (H1). */
export class MessageViews extends Context.Service<
  MessageViews,
  {
    /** With `images`, pictures are loaded from elsewhere. */
    readonly view: (
      raw: Uint8Array,
      options: { readonly images: boolean }
    ) => Effect.Effect<MessageView, UnreadableMessage>
    readonly content: (raw: Uint8Array) => Effect.Effect<MessageContent, UnreadableMessage>
    /** A file with its bytes, by its place in `files`. */
    readonly file: (
      raw: Uint8Array,
      index: number
    ) => Effect.Effect<(MessageFile & { readonly content: Uint8Array }) | undefined, UnreadableMessage>
    readonly clients: (raw: Uint8Array) => Effect.Effect<ClientSupport, UnreadableMessage>
    /** The script that checks the accessibility of the document that it runs in (axe-core). */
    readonly accessibilityScript: Effect.Effect<string>
  }
>()("postlane/ports/MessageViews") {}
