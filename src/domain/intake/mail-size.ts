/** Largest mail, bytes on the wire: 40 MB (contract, "Convert-by-email"). */
export const MAX_MAIL_BYTES = 40 * 1024 * 1024
