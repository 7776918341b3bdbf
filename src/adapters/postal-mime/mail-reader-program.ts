import { readMail } from "./read-mail.ts"

/** Reads mails in a process of their own, see `ReaderProcess`. */
export default readMail
