/** How long a session lasts, used or not. */
export const SESSION_LIFETIME_SECONDS = 14 * 24 * 3600

/** How long a cookie is used before the next one is issued. */
export const ROTATE_AFTER_SECONDS = 3600

/** How long the previous cookie stays valid, and how soon an issued cookie that was never used may be replaced. */
export const ROTATION_GRACE_SECONDS = 60

/** How long a magic link works. */
export const MAGIC_LINK_LIFETIME_SECONDS = 15 * 60

/**
 * The cookies of one session, each as its hash. The next one becomes current when it is first used, not when it is issued:
 * a lost response does not end the session.
 */
export interface SessionCookies {
  readonly current: string
  /** Since when it is the current one, milliseconds of the epoch. */
  readonly rotatedAt: number
  readonly next: { readonly hash: string; readonly issuedAt: number } | undefined
  /** Requests of another tab may still be under way with it. */
  readonly previous: { readonly hash: string; readonly until: number } | undefined
  readonly expiresAt: number
}

/** The verdict on a presented cookie. */
type Presented =
  | { readonly _tag: "Refused" }
  | { readonly _tag: "Holds"; readonly session: SessionCookies }
  /** It is valid, and the candidate is the next cookie: issue it. */
  | { readonly _tag: "Renewed"; readonly session: SessionCookies }

const refused: Presented = { _tag: "Refused" }

/**
 * Judges a cookie by its hash at the time `now` (milliseconds); `candidate` is the hash of a cookie that may be issued.
 * `use_session` in the database applies the same rules.
 */
export const presentCookie = (
  session: SessionCookies,
  hash: string,
  candidate: string,
  now: number
): Presented => {
  if (session.expiresAt <= now) return refused
  const grace = ROTATION_GRACE_SECONDS * 1000
  if (hash === session.current) {
    const due = session.rotatedAt + ROTATE_AFTER_SECONDS * 1000 <= now
    const pending = session.next !== undefined && session.next.issuedAt + grace > now
    return due && !pending
      ? { _tag: "Renewed", session: { ...session, next: { hash: candidate, issuedAt: now } } }
      : { _tag: "Holds", session }
  }
  if (hash === session.next?.hash) {
    const rotated = {
      current: hash,
      rotatedAt: now,
      next: undefined,
      previous: { hash: session.current, until: now + grace },
      expiresAt: session.expiresAt
    }
    return { _tag: "Holds", session: rotated }
  }
  const inGrace = hash === session.previous?.hash && session.previous.until > now
  return inGrace ? { _tag: "Holds", session } : refused
}
