/** The recipients of a request, each as its provider writes it. */
interface Recipients<A> {
  readonly to: ReadonlyArray<A>
  readonly cc: ReadonlyArray<A>
  readonly bcc: ReadonlyArray<A>
}

/**
 * The recipients who may get the mail: undefined when nobody is left in `to`, `unchanged` when nobody is blocked, so that the bytes of
 * the request stay as they are.
 */
export const allowedRecipients = <A>(
  { bcc, cc, to }: Recipients<A>,
  isBlocked: (recipient: A) => boolean
): Recipients<A> | "unchanged" | undefined => {
  if (![...to, ...cc, ...bcc].some(isBlocked)) return "unchanged"
  const allowed = (list: ReadonlyArray<A>) => list.filter((recipient) => !isBlocked(recipient))
  const left = allowed(to)
  return left.length === 0 ? undefined : { to: left, cc: allowed(cc), bcc: allowed(bcc) }
}
